import type { Clock } from "../clock.js";
import type { StatusSubscriber } from "../status/status-feed.js";

/** A client that does not read is tried again after. */
const RETRY_MS = 1_000;

const MESSAGE = Buffer.from(
  JSON.stringify({ jsonrpc: "2.0", method: "alarms", params: {} }),
);

/** Clients that want to hear that alarms have changed; which they may see, they ask. */
export class AlarmListeners {
  readonly #clock: Clock;
  readonly #clients = new Set<StatusSubscriber>();
  #behind = new Set<StatusSubscriber>();
  #timer: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(client: StatusSubscriber): void {
    this.#clients.add(client);
  }

  /** @returns false: it was not there */
  delete(client: StatusSubscriber): boolean {
    this.#behind.delete(client);
    return this.#clients.delete(client);
  }

  tell(): void {
    this.#tell(this.#clients);
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#clients.clear();
    this.#behind.clear();
  }

  #tell(clients: ReadonlySet<StatusSubscriber>): void {
    const behind = [...clients].filter((client) => !client.trySend(MESSAGE));
    this.#behind = new Set(behind);
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    if (behind.length === 0) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#tell(this.#behind);
    }, RETRY_MS);
  }
}
