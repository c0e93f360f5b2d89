import type { WallClock } from "@xo-server/kit";
import type { Catalog, Inventory } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import { RollingRecords } from "../rolling/rolling-records.js";
import type { Logger } from "../log/logger.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Audit } from "../operations/audit.js";
import type { ActivityRecorder } from "../operations/activity-recorder.js";
import type { PlacementService } from "../placement/placement-service.js";
import type { Pools } from "../pools/pools.js";
import type { Stats } from "../stats/start-stats.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Tasks } from "../tasks/tasks.js";
import { Balancer } from "./balancer.js";
import { observePool } from "./observe-pool.js";
import { PlanRunner } from "./plan-runner.js";

interface StartBalancerParts {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly stats: Stats;
  readonly placement: PlacementService;
  readonly catalog: Catalog;
  readonly inventory: Inventory;
  readonly objects: PoolObjects;
  readonly pools: Pick<Pools, "listSummaries">;
  readonly audit: Audit;
  readonly recorder: ActivityRecorder;
  readonly cluster: Pick<Cluster, "self" | "leases">;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly stops: StopStack;
}

/** Creates the load balancer, which is inactive until `start` is called. */
export function startBalancer(parts: StartBalancerParts): Balancer {
  const { store, catalog, cluster, stops } = parts;
  const { leases, self } = cluster;
  let isStopping = false;
  const rolling = new RollingRecords(store.settings);
  const sources = { ...parts, stats: parts.stats.hosts, rolling };
  const named = { ...parts, nameOf: (id: string) => nameOf(catalog, id) };
  const runner = new PlanRunner({
    ...named,
    isStopping: () => isStopping,
  });
  const balancer = new Balancer({
    ...named,
    owner: self.owner,
    leases,
    runner,
    observe: (pool, tags) => observePool(pool, tags, sources),
  });
  stops.push("load balancer", () => {
    isStopping = true;
    return balancer.stop();
  });
  return balancer;
}

function nameOf(catalog: Pick<Catalog, "get">, id: string): string {
  const entry = catalog.get(id);
  if (entry === undefined) return id;
  const { name_label } = JSON.parse(entry.json.toString()) as {
    readonly name_label?: unknown;
  };
  return typeof name_label === "string" && name_label !== "" ? name_label : id;
}
