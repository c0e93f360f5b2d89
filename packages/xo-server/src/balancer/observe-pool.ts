import type {
  Catalog,
  Inventory,
  Steps,
  ViewObject,
} from "@xo-server/inventory";
import type { RollingRecords } from "../rolling/rolling-records.js";
import type { Pools } from "../pools/pools.js";
import { migrationObstacle } from "../placement/migration-obstacle.js";
import type { HostStats } from "../stats/host-stats.js";
import type { PoolObservation, ObservedHost } from "./pool-observation.js";

export interface ObservePoolParts {
  readonly catalog: Pick<Catalog, "follow" | "get" | "poolOf">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly pools: Pick<Pools, "listSummaries">;
  readonly stats: {
    readonly seriesStore: Pick<HostStats["seriesStore"], "get">;
  };
  readonly rolling: Pick<RollingRecords, "runningSince">;
}

/** Filled host by host. */
interface ObservedObjects {
  readonly hosts: ObservedHost[];
  readonly moving: string[];
  readonly staying: string[];
}

/** Number of VMs parsed per slice; each takes about 20 us. */
const VMS_PER_STEP = 5;
const MIGRATIONS = new Set(["pool_migrate", "migrate_send"]);
const disconnected: PoolObservation = {
  isConnected: false,
  hosts: [],
  moving: [],
  staying: [],
};

/**
 * Reads the current state of a pool, in slices.
 * @param pool id of the pool
 */
export async function observePool(
  pool: string,
  excludedTags: readonly string[],
  parts: ObservePoolParts,
): Promise<PoolObservation> {
  const { catalog, inventory, rolling } = parts;
  const connection = catalog.poolOf(pool);
  if (connection === undefined || !isConnected(connection, parts))
    return disconnected;
  const [hosts] = await Promise.all([
    catalog.follow("host"),
    // Makes VMs available to `catalog.get`.
    catalog.follow("VM"),
  ]);
  const observed: ObservedObjects = { hosts: [], moving: [], staying: [] };
  const tags = new Set(excludedTags);
  function* steps(): Steps {
    for (let row = 0; row < hosts.rows; row++) {
      if (!hosts.isLive(row) || hosts.pool(row) !== connection) continue;
      const host = hosts.object(row);
      if (host["$pool"] === pool)
        yield* observeHost(host, tags, parts, observed);
      yield;
    }
  }
  await inventory.runInSlices("balancer", steps());
  const since = rolling.runningSince(pool);
  return {
    isConnected: true,
    ...observed,
    ...(since === undefined ? {} : { rollingSince: since }),
  };
}

function isConnected(connection: string, { pools }: ObservePoolParts): boolean {
  const state = pools
    .listSummaries()
    .find(({ id }) => id === connection)?.state;
  return state === "watching" || state === "re-listing";
}

function* observeHost(
  host: ViewObject,
  tags: ReadonlySet<string>,
  { catalog, stats }: ObservePoolParts,
  observed: ObservedObjects,
): Steps {
  const id = String(host.id);
  let guests = 0;
  const vms = listIn(host["residentVms"]);
  for (const [i, vm] of vms.entries()) {
    if (i % VMS_PER_STEP === VMS_PER_STEP - 1) yield;
    const entry = catalog.get(vm);
    // Skips the control domain, which has another type.
    if (entry?.type !== "VM") continue;
    guests++;
    observeVm(JSON.parse(entry.json.toString()) as ViewObject, tags, observed);
  }
  const { power_state, enabled, current_operations } = host;
  observed.hosts.push({
    id,
    vms: guests,
    isUp: power_state === "Running",
    isEnabled: enabled === true,
    operations: operationsIn(current_operations),
    measuredAt:
      stats.seriesStore.get(String(host["$pool"]), id)?.receivedAt ?? -Infinity,
  });
}

function observeVm(
  { id, tags, power_state, current_operations }: ViewObject,
  excluded: ReadonlySet<string>,
  { moving, staying }: ObservedObjects,
): void {
  const operations = operationsIn(current_operations);
  if (operations.some((one) => MIGRATIONS.has(one))) moving.push(String(id));
  const isTagged = listIn(tags).some((tag) => excluded.has(tag));
  const obstacle = migrationObstacle({ power_state, current_operations });
  if (isTagged || obstacle !== undefined) staying.push(String(id));
}

function listIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function operationsIn(value: unknown): string[] {
  return Object.values((value ?? {}) as Readonly<Record<string, string>>);
}
