import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { PASSWORD } from "./server-group.js";

type Row = Record<string, unknown>;

/** Columns of all VMs that a client follows. */
export const FIELDS = ["id", "name_label", "power_state"] as const;

/** A form in which two copies of the rows can be compared. */
export function toTable(rows: Iterable<Row>): readonly string[] {
  return Array.from(rows, (row) =>
    JSON.stringify(FIELDS.map((field) => row[field] ?? null)),
  ).toSorted();
}

/**
 * A client behind a load balancer that follows all VMs by an event stream
 * (/rest/v0/events): after each end of the stream it connects again, subscribes, and
 * reads the list.
 */
export class EventClient {
  readonly #url: string;
  readonly #cookies = new Map<string, string>();
  readonly #rows = new Map<string, Row>();
  /** Events that came before the list was read. */
  #early: (() => void)[] | undefined;
  streams = 0;

  constructor(url: string) {
    this.#url = url;
  }

  get table(): readonly string[] {
    return toTable(this.#rows.values());
  }

  /** The list has been read. */
  get isReady(): boolean {
    return this.streams > 0 && this.#early === undefined;
  }

  async signIn(): Promise<void> {
    const body = { username: "admin", password: PASSWORD };
    await this.#send("/auth/login", body);
  }

  /** Until the signal is aborted. */
  async stayConnected({ signal }: AbortController): Promise<void> {
    while (!signal.aborted) {
      // If no server answers, it retries.
      await this.#follow(signal).catch(() => undefined);
      await pause(100);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const answer = await fetch(`${this.#url}/rest/v0/events`, {
      headers: { cookie: this.#cookie },
      signal: AbortSignal.any([signal, ending.signal]),
    });
    this.#keepCookies(answer);
    if (!answer.ok) throw new Error(await answer.text());
    this.#early = [];
    let text = "";
    try {
      const body = Readable.fromWeb(answer.body as never);
      for await (const chunk of body.setEncoding("utf8")) {
        text += String(chunk);
        const events = text.split("\n\n");
        text = events.pop()!;
        for (const event of events) this.#take(event, ending);
      }
    } finally {
      this.#early = [];
    }
  }

  #take(text: string, ending: AbortController): void {
    const [event, data] = text
      .split("\n")
      .map((line) => line.replace(/^\w+: /, ""));
    if (data === undefined) return;
    const row = JSON.parse(data) as Row;
    if (event === "init")
      this.#begin(String(row["id"])).catch(() => {
        ending.abort();
      });
    const apply = () => {
      if (event === "remove") this.#rows.delete(String(row["id"]));
      else if (event === "add" || event === "update")
        this.#rows.set(String(row["id"]), row);
    };
    if (this.#early === undefined) apply();
    else this.#early.push(apply);
  }

  async #begin(id: string): Promise<void> {
    const path = `/events/${id}/subscriptions`;
    await this.#send(path, { collection: "VM" });
    const fields = FIELDS.join(",");
    const listed = await this.#send(`/vms?fields=${fields}`);
    const rows = (await listed.json()) as Row[];
    this.#rows.clear();
    for (const row of rows) this.#rows.set(String(row["id"]), row);
    for (const apply of this.#early ?? []) apply();
    this.#early = undefined;
    this.streams++;
  }

  get #cookie(): string {
    return Array.from(
      this.#cookies,
      ([name, value]) => `${name}=${value}`,
    ).join("; ");
  }

  async #send(path: string, body?: object): Promise<Response> {
    const answer = await fetch(`${this.#url}/rest/v0${path}`, {
      headers: { cookie: this.#cookie, "content-type": "application/json" },
      ...(body === undefined
        ? {}
        : { method: "POST", body: JSON.stringify(body) }),
    });
    this.#keepCookies(answer);
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  }

  /** Also that of the load balancer: a subscription belongs to the server of the stream. */
  #keepCookies(answer: Response): void {
    for (const cookie of answer.headers.getSetCookie()) {
      const [name, value] = cookie.split(";")[0]!.split("=");
      if (value !== "") this.#cookies.set(name!, value!);
    }
  }
}
