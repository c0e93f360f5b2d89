import type { Clock } from "../clock.js";
import type { StatusSubscriber } from "../status/status-feed.js";

/** Between two notifications, and until a client that does not read is tried again. */
const PAUSE_MS = 500;

const MESSAGE = Buffer.from(
  JSON.stringify({ jsonrpc: "2.0", method: "activity", params: {} }),
);

/** Clients that want to hear that something has happened; what of it they may see, they ask. */
export class ActivityListeners {
  readonly #clock: Clock;
  /** Whether each has still to be told. */
  readonly #clients = new Map<StatusSubscriber, boolean>();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(client: StatusSubscriber): void {
    this.#clients.set(client, false);
  }

  /** @returns false: it was not there */
  delete(client: StatusSubscriber): boolean {
    return this.#clients.delete(client);
  }

  /** Often: they hear of it soon, and of many as of one. */
  tell(): void {
    if (this.#clients.size === 0) return;
    for (const client of this.#clients.keys()) this.#clients.set(client, true);
    this.#timer ??= this.#clock.setTimeout(() => {
      this.#send();
    }, PAUSE_MS);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#clients.clear();
  }

  #send(): void {
    this.#timer = undefined;
    let isAnyBehind = false;
    for (const [client, isToTell] of this.#clients) {
      const isBehind = isToTell && !client.trySend(MESSAGE);
      this.#clients.set(client, isBehind);
      isAnyBehind ||= isBehind;
    }
    if (!isAnyBehind) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#send();
    }, PAUSE_MS);
  }
}
