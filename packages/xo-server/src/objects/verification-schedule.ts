import type { WallClock } from "@xo-server/kit";
import type { Inventory } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";

interface VerificationScheduleOptions {
  readonly inventory: Pick<
    Inventory,
    "pools" | "mirrorStatus" | "counts" | "verify"
  >;
  /** Interval of comparisons, in ms; 0: disabled. */
  readonly intervalMs: number;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/**
 * Compares the mirror with the pools in the background: one class of one pool
 * per interval, so that the cost does not depend on the number of pools.
 */
export class VerificationSchedule {
  readonly #options: VerificationScheduleOptions;
  readonly #abort = new AbortController();
  /** The class that was compared last, by pool. */
  readonly #lastClass = new Map<string, string>();
  #lastPool = "";
  #timer: unknown;
  #running: Promise<void> = Promise.resolve();

  constructor(options: VerificationScheduleOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, intervalMs } = this.#options;
    if (intervalMs === 0 || this.#abort.signal.aborted) return;
    this.#timer = clock.setTimeout(() => {
      this.#running = this.#verifyNext().then(() => {
        this.start();
      });
    }, intervalMs);
  }

  /** Resolves when no comparison is running. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#options.clock.clearTimeout(this.#timer);
    await this.#running;
  }

  /** Never rejects: a pool that cannot be compared is compared later. */
  async #verifyNext(): Promise<void> {
    const { inventory, logger } = this.#options;
    const pool = next(
      inventory.pools.filter((id) => this.#isFollowed(id)),
      this.#lastPool,
    );
    if (pool === undefined) return;
    this.#lastPool = pool;
    const className = next(
      [...inventory.counts(pool).keys()],
      this.#lastClass.get(pool) ?? "",
    );
    if (className === undefined) return;
    this.#lastClass.set(pool, className);
    const { signal } = this.#abort;
    try {
      await inventory.verify(pool, { classes: [className], signal });
    } catch (error) {
      logger.debug(`${pool}: ${className} was not compared with the pool`, {
        error,
      });
    }
  }

  #isFollowed(pool: string): boolean {
    const status = this.#options.inventory.mirrorStatus(pool);
    return status?.state === "watching" && status.staleSince === undefined;
  }
}

/** The name after `last` in alphabetical order; after the last one the first. */
function next(names: readonly string[], last: string): string | undefined {
  const sorted = names.toSorted();
  return sorted.find((name) => name > last) ?? sorted[0];
}
