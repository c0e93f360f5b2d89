import type { WallClock } from "@xo-server/kit";
import type { Catalog, Inventory } from "@xo-server/inventory";
import type { Logger } from "../log/logger.js";

/** Maximum wait, in ms. Events of a pool normally arrive within a second. */
const MAX_MS = 5_000;

interface CatchUpOptions {
  readonly inventory: Pick<Inventory, "catchUp">;
  readonly catalog: Pick<Catalog, "settled">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "debug">;
}

/**
 * Delays the response to a change until the mirror shows the change, because
 * scripts read the result immediately.
 */
export class CatchUp {
  readonly #options: CatchUpOptions;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /**
   * Waits until the mirror shows the current state of these pools, for at most five
   * seconds. Never rejects.
   * @returns whether it does
   */
  async with(pools: Iterable<string>): Promise<boolean> {
    const { inventory, catalog, clock, logger } = this.#options;
    const all = Array.from(pools, (pool) => inventory.catchUp(pool));
    if (all.length === 0) return true;
    let timer: unknown;
    const tooLong = new Promise<boolean>((resolve) => {
      timer = clock.setTimeout(() => {
        resolve(false);
      }, MAX_MS);
    });
    const caughtUp = Promise.all(all)
      .then(() => catalog.settled())
      .then(() => true)
      .catch((error: unknown) => {
        logger.debug(
          `the mirror has not caught up: ${(error as Error).message}`,
        );
        return false;
      });
    const isCaughtUp = await Promise.race([caughtUp, tooLong]);
    clock.clearTimeout(timer);
    return isCaughtUp;
  }
}
