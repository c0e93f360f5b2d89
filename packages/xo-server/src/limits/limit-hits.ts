/** Limits of the API that are counted. */
const limitNames = [
  "body_size",
  "body_timeout",
  "consoles",
  "consoles_of_object",
  "consoles_of_user",
  "depth",
  "event_streams",
  "guest_sockets",
  "header_size",
  "header_timeout",
  "connections",
  "pipelined_requests",
  "message_rate",
  "message_size",
  "request_rate_address",
  "request_rate_user",
  "slow_reader",
  "sockets",
  "sockets_of_address",
  "url_size",
] as const;
export type LimitName = (typeof limitNames)[number];

/** Counts how often each limit was exceeded since the start. */
export class LimitHits {
  readonly #counts = new Map<LimitName, number>(
    limitNames.map((name) => [name, 0]),
  );

  count(name: LimitName): void {
    this.#counts.set(name, this.#counts.get(name)! + 1);
  }

  /** Counts errors of the HTTP library. */
  countError(error: Error & { readonly code?: unknown }): void {
    if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") this.count("body_size");
  }

  /** Counts of all limits by name, zeros included. */
  read(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}
