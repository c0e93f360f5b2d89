import type { Inventory } from "@xo-server/inventory";
import type { LoopMonitor } from "@xo-server/perf";
import type { Store } from "@xo-server/store";
import {
  startActivity,
  type StartedActivity,
} from "../activity/start-activity.js";
import { systemClock, type Clock } from "../clock.js";
import { LimitHits } from "../limits/limit-hits.js";
import { CatchUp } from "../objects/catch-up.js";
import { PoolObjects } from "../objects/pool-objects.js";
import { startInventory } from "../objects/start-inventory.js";
import { startObjects, type Objects } from "../objects/start-objects.js";
import { createAudit, type Audit } from "../operations/audit.js";
import type { Parser } from "./parser.js";
import { createLivePools } from "../pools/live-pools.js";
import { DemoPools } from "../pools/demo-pools.js";
import { createPools, type Pools } from "../pools/pools.js";
import { StoredPools } from "../pools/stored-pools.js";
import type { ServerOptions } from "./server-options.js";
import { startMonitor } from "./start-monitor.js";
import { startParser } from "./start-parser.js";
import { startStore } from "./start-store.js";
import type { StopStack } from "./stop-stack.js";

/** What everything else stands on: what is kept, and the pools with their objects. */
export interface Ground {
  readonly clock: Clock;
  readonly monitor: LoopMonitor;
  readonly parser: Parser;
  readonly store: Store;
  readonly audit: Audit;
  readonly inventory: Inventory;
  readonly objects: Objects;
  readonly activity: StartedActivity;
  readonly catchUp: CatchUp;
  /** Nobody has connected them yet. */
  readonly pools: Pools;
  readonly stored: StoredPools;
  /** Simulated ones; none yet. */
  readonly demoPools: DemoPools;
  readonly poolObjects: PoolObjects;
  readonly hits: LimitHits;
}

export async function startGround(
  options: ServerOptions,
  stops: StopStack,
): Promise<Ground> {
  const { loggers, clock = systemClock } = options;
  const logger = loggers.named("xo:main");
  const monitor = startMonitor(options, stops);
  const parser = startParser(options, stops);
  const store = await startStore(options, stops);
  const storedIds = Array.from(store.servers.list(), ({ id }) => id);
  const inventory = await startInventory(monitor, storedIds, options, stops);
  const objects = startObjects(inventory, options, stops);
  const activity = startActivity(inventory, objects, options, stops);
  const pools = createPools({
    createPool:
      options.createPool ??
      createLivePools({ ...options, ...parser, inventory }),
    forgetPool: (id) => inventory.removePool(id),
    clock,
    logger,
  });
  const { catalog } = objects;
  const apiLogger = loggers.named("xo:api");
  return {
    clock,
    monitor,
    parser,
    store,
    inventory,
    objects,
    activity,
    pools,
    catchUp: new CatchUp({ inventory, catalog, clock, logger: apiLogger }),
    audit: createAudit(store, apiLogger),
    stored: new StoredPools({ servers: store.servers, pools, logger }),
    demoPools: new DemoPools({ ...options, pools, logger }),
    poolObjects: new PoolObjects(catalog, pools),
    hits: new LimitHits(),
  };
}
