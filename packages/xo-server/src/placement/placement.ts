import type { Inventory, Queries } from "@xo-server/inventory";
import type { PoolModel } from "@xo-server/placement";
import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import { ModelReader } from "./model-reader.js";
import { PlacementRules } from "./placement-rules.js";
import { Planner } from "./planner.js";

export interface PlacementParts {
  readonly inventory: Inventory;
  readonly queries: Pick<Queries, "now">;
  readonly poolObjects: PoolObjects;
  readonly store: Pick<Store, "placementRules">;
  readonly clock: Clock;
}

/** What should run where. */
export class Placement {
  readonly planner: Planner;
  readonly rules: PlacementRules;
  readonly #parts: PlacementParts;

  constructor(parts: PlacementParts) {
    const { inventory, clock, store } = parts;
    this.#parts = parts;
    this.planner = new Planner({ inventory, clock });
    this.rules = new PlacementRules(store.placementRules);
  }

  /**
   * A pool as it is known here, with what hosts measure lately as `load`: a
   * host that is not measured has none.
   * @param pool its id
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
