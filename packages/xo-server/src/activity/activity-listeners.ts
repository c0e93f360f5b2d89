import type { WallClock } from "@xo-server/kit";
import type { StatusSubscriber } from "../status/status-feed.js";

/**
 * Minimum interval of notifications, and of retries for clients with a full
 * send buffer.
 */
const PAUSE_MS = 500;

const MESSAGE = Buffer.from(
  JSON.stringify({ jsonrpc: "2.0", method: "activity", params: {} }),
);

/**
 * Clients that are notified of new activity. They then request the entries that
 * they may read.
 */
export class ActivityListeners {
  readonly #clock: WallClock;
  /** Whether the client must be notified. */
  readonly #clients = new Map<StatusSubscriber, boolean>();
  #timer: unknown;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  add(client: StatusSubscriber): void {
    this.#clients.set(client, false);
  }

  /** @returns false: the client was not subscribed */
  delete(client: StatusSubscriber): boolean {
    return this.#clients.delete(client);
  }

  /** May be called often: notifications are combined. */
  notify(): void {
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
    for (const [client, hasNews] of this.#clients) {
      const isBehind = hasNews && !client.trySend(MESSAGE);
      this.#clients.set(client, isBehind);
      isAnyBehind ||= isBehind;
    }
    if (!isAnyBehind) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#send();
    }, PAUSE_MS);
  }
}
