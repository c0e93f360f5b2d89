import type { WallClock } from "@xo-server/kit";
import { CLUSTER_CHANNEL } from "./engines/cluster-notice.js";
import type { Engine, Listening } from "./engines/engine.js";

/** Pause before the database is listened to again, in ms. */
const RETRY_MS = 1_000;

/**
 * Notices of other servers on the database that leases or servers have changed. A
 * notice may be missed while the database is unreachable, so listeners must also
 * poll.
 */
export class ClusterNotices {
  readonly #engine: Pick<Engine, "listen">;
  readonly #clock: WallClock;
  readonly #listeners = new Set<() => void>();
  #listening: Promise<Listening | undefined> | undefined;
  #timer: unknown;
  #isClosed = false;

  constructor(engine: Pick<Engine, "listen">, clock: WallClock) {
    this.#engine = engine;
    this.#clock = clock;
  }

  /** Calls the listener after each notice, of this process too. @returns a function that removes the listener */
  onNotice(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#listening ??= this.#listen();
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
    await (await this.#listening)?.close();
  }

  async #listen(): Promise<Listening | undefined> {
    try {
      const listening = await this.#engine.listen?.(CLUSTER_CHANNEL, {
        onNotice: () => {
          this.#notify();
        },
        onEnd: () => {
          this.#retry();
        },
      });
      // What changed before is not notified.
      if (listening !== undefined) this.#notify();
      return listening;
    } catch {
      // Unreachable, which the next query reports.
      this.#retry();
      return undefined;
    }
  }

  #retry(): void {
    if (this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => {
      this.#listening = this.#listen();
    }, RETRY_MS);
  }

  #notify(): void {
    if (this.#isClosed) return;
    for (const listener of this.#listeners) listener();
  }
}
