import type { WallClock } from "@xo-server/kit";
import type { Inventory, Queries } from "@xo-server/inventory";
import type { PoolModel } from "@xo-server/placement";
import type { Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import { ModelReader } from "./model-reader.js";
import { PlacementRules } from "./placement-rules.js";
import { Planner } from "./planner.js";

interface PlacementServiceParts {
  readonly inventory: Inventory;
  readonly queries: Pick<Queries, "metrics">;
  readonly poolObjects: PoolObjects;
  readonly store: Pick<Store, "placementRules">;
  readonly clock: WallClock;
}

/**
 * The planner with its input: the mirror, current metrics and placement rules.
 */
export class PlacementService {
  readonly planner: Planner;
  readonly rules: PlacementRules;
  readonly #parts: PlacementServiceParts;

  constructor(parts: PlacementServiceParts) {
    const { inventory, clock, store } = parts;
    this.#parts = parts;
    this.planner = new Planner({ inventory, clock });
    this.rules = new PlacementRules(store.placementRules);
  }

  /**
   * The current model of a pool. `load` is as measured; absent without current
   * metrics.
   * @param pool id of the pool
   * @throws XoError NO_SUCH_OBJECT, NOT_CONNECTED
   */
  async model(pool: string): Promise<PoolModel> {
    const { inventory, queries, poolObjects } = this.#parts;
    poolObjects.get(pool, "pool");
    const connection = poolObjects.connectionOf(pool)!;
    const { rules } = this;
    const sources = { inventory, queries, rules };
    const reader = new ModelReader(pool, connection, sources);
    await inventory.runInSlices("placement", reader.steps());
    return reader.model;
  }

  stop(): Promise<void> {
    return this.planner.stop();
  }
}
