import type { WallClock } from "@xo-server/kit";
import type { StatusSubscriber } from "../status/status-feed.js";

/** Interval of retries for clients with a full send buffer. */
const RETRY_MS = 1_000;

const MESSAGE = Buffer.from(
  JSON.stringify({ jsonrpc: "2.0", method: "alarms", params: {} }),
);

/**
 * Clients that are notified of changed alarms. They then request the alarms
 * that they may read.
 */
export class AlarmListeners {
  readonly #clock: WallClock;
  readonly #clients = new Set<StatusSubscriber>();
  #behind = new Set<StatusSubscriber>();
  #timer: unknown;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  add(client: StatusSubscriber): void {
    this.#clients.add(client);
  }

  /** @returns false: the client was not subscribed */
  delete(client: StatusSubscriber): boolean {
    this.#behind.delete(client);
    return this.#clients.delete(client);
  }

  notify(): void {
    this.#notify(this.#clients);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#clients.clear();
    this.#behind.clear();
  }

  #notify(clients: ReadonlySet<StatusSubscriber>): void {
    const behind = [...clients].filter((client) => !client.trySend(MESSAGE));
    this.#behind = new Set(behind);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (behind.length === 0) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#notify(this.#behind);
    }, RETRY_MS);
  }
}
