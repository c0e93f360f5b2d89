import type { Catalog, Inventory } from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";

/** Events of a pool tell of a change within a second; nobody waits for ever for a pool that is behind. */
const MOST_MS = 5_000;

export interface CatchUpOptions {
  readonly inventory: Pick<Inventory, "catchUp">;
  readonly catalog: Pick<Catalog, "settled">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "debug">;
}

/** So that who has changed something reads it as it is now: scripts never look twice. */
export class CatchUp {
  readonly #options: CatchUpOptions;

  constructor(options: CatchUpOptions) {
    this.#options = options;
  }

  /** Resolves when the objects are as these pools have them by now; after five seconds in any case. Never rejects. */
  async with(pools: Iterable<string>): Promise<void> {
    const { inventory, catalog, clock, logger } = this.#options;
    const all = Array.from(pools, (pool) => inventory.catchUp(pool));
    if (all.length === 0) return;
    let timer: unknown;
    const tooLong = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, MOST_MS);
    });
    const caughtUp = Promise.all(all)
      .then(() => catalog.settled())
      .catch((error: unknown) => {
        logger.debug(`not caught up: ${(error as Error).message}`);
      });
    await Promise.race([caughtUp, tooLong]);
    clock.clearTimeout(timer);
  }
}
