import type {
  Catalog,
  Inventory,
  Steps,
  ViewObject,
} from "@xo-server/inventory";
import type { RollingPlans } from "../hosts/rolling-plans.js";
import type { Pools } from "../pools/pools.js";
import type { HostStats } from "../stats/host-stats.js";
import type { PoolSight, SeenHost } from "./pool-sight.js";

export interface SightParts {
  readonly catalog: Pick<Catalog, "follow" | "get">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly pools: Pick<Pools, "list">;
  readonly stats: { readonly tracks: Pick<HostStats["tracks"], "get"> };
  readonly rolling: Pick<RollingPlans, "underWaySince">;
}

/** As it is found, host after host. */
interface Seen {
  readonly hosts: SeenHost[];
  readonly moving: string[];
  readonly staying: string[];
}

/** VMs between two looks at the clock: each is parsed, in some 20 us. */
const VMS_A_STEP = 5;
const MOVES = new Set(["pool_migrate", "migrate_send"]);
const blind: PoolSight = {
  isConnected: false,
  hosts: [],
  moving: [],
  staying: [],
};

/**
 * Looks at a pool, in slices.
 * @param pool its id
 */
export async function readSight(
  pool: string,
  excludedTags: readonly string[],
  parts: SightParts,
): Promise<PoolSight> {
  const { catalog, inventory, rolling } = parts;
  const connection = catalog.get(pool)?.pool;
  if (connection === undefined || !isConnected(connection, parts)) return blind;
  const [hosts] = await Promise.all([
    catalog.follow("host"),
    // Its rows are then there to be found by their ids.
    catalog.follow("VM"),
  ]);
  const seen: Seen = { hosts: [], moving: [], staying: [] };
  const tags = new Set(excludedTags);
  function* look(): Steps {
    for (let row = 0; row < hosts.rows; row++) {
      if (!hosts.isLive(row) || hosts.pool(row) !== connection) continue;
      const host = hosts.object(row);
      if (host["$pool"] === pool) yield* lookAtHost(host, tags, parts, seen);
      yield;
    }
  }
  await inventory.runInSlices("balancer", look());
  const since = rolling.underWaySince(pool);
  return {
    isConnected: true,
    ...seen,
    ...(since === undefined ? {} : { rollingSince: since }),
  };
}

function isConnected(connection: string, { pools }: SightParts): boolean {
  const state = pools.list().find(({ id }) => id === connection)?.state;
  return state === "watching" || state === "re-listing";
}

function* lookAtHost(
  host: ViewObject,
  tags: ReadonlySet<string>,
  { catalog, stats }: SightParts,
  seen: Seen,
): Steps {
  const id = String(host.id);
  let guests = 0;
  const vms = listIn(host["residentVms"]);
  for (const [i, vm] of vms.entries()) {
    if (i % VMS_A_STEP === VMS_A_STEP - 1) yield;
    const entry = catalog.get(vm);
    // The control domain is of another type.
    if (entry?.type !== "VM") continue;
    guests++;
    lookAtVm(JSON.parse(entry.json.toString()) as ViewObject, tags, seen);
  }
  const { power_state, enabled, current_operations } = host;
  seen.hosts.push({
    id,
    guests,
    isUp: power_state === "Running",
    isEnabled: enabled === true,
    operations: operationsIn(current_operations),
    measuredAt:
      stats.tracks.get(String(host["$pool"]), id)?.heardAt ?? -Infinity,
  });
}

function lookAtVm(
  { id, tags, current_operations }: ViewObject,
  excluded: ReadonlySet<string>,
  { moving, staying }: Seen,
): void {
  const operations = operationsIn(current_operations);
  if (operations.some((one) => MOVES.has(one))) moving.push(String(id));
  const isTagged = listIn(tags).some((tag) => excluded.has(tag));
  if (isTagged || operations.length > 0) staying.push(String(id));
}

function listIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function operationsIn(value: unknown): string[] {
  return Object.values((value ?? {}) as Readonly<Record<string, string>>);
}
