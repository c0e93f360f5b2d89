import { Type, type Static, type TSchema } from "typebox";

/**
 * The server's status: `status` of the API, of the page and of /health. Times
 * are ISO 8601 in UTC. With merge patches null means that a member is removed:
 * absent and null are equivalent.
 */

const Text = Type.String();
const Count = Type.Integer({ minimum: 0 });
const Amount = Type.Number({ minimum: 0 });
const nullable = <T extends TSchema>(type: T) =>
  Type.Union([type, Type.Null()]);

/** Number of objects by XAPI class, such as `VM`. */
const Counts = Type.Record(Type.String(), Count);

export const poolStates = [
  "connecting",
  "listing",
  "watching",
  "backing-off",
  "re-listing",
  "stopped",
  "failed",
] as const;
export type PoolState = (typeof poolStates)[number];

const PoolError = Type.Object({
  code: Text,
  message: Text,
  /**
   * Members of the message: `address`, `fingerprint` (presented), `pinned`
   * (expected), `reason`.
   */
  data: Type.Optional(Type.Record(Type.String(), Text)),
});

const PoolWarning = Type.Object({
  code: Type.Enum(["SAME_POOL", "SAME_HOSTS", "POOL_REPLACED"]),
  message: Text,
  /** Members of the message: `pool`, `uuid`, `previous`. */
  data: Type.Record(Type.String(), Text),
});
export type PoolWarning = Static<typeof PoolWarning>;

export const PoolStatus = Type.Object({
  id: Text,
  label: Text,
  /**
   * The user may not read the pool: only its state and UUID are set, and the
   * UUID is its id.
   */
  isRestricted: Type.Optional(Type.Boolean()),
  /** UUID of the pool, `$pool` of its objects; null before the first listing. */
  pool: nullable(Text),
  address: Text,
  state: Type.Enum(poolStates),
  since: Text,
  /**
   * When the pool stopped being followed; null while it is followed and before
   * the first listing.
   */
  staleSince: nullable(Text),
  /** Why it is not followed: a code of the error table or of XAPI. */
  error: nullable(PoolError),
  /** UUIDs that another pool has as well; another pool at this address. */
  warnings: Type.Optional(Type.Array(PoolWarning)),
  transport: nullable(Text),
  /** Name of the server through which the pool is reached; absent: directly. */
  via: Type.Optional(Text),
  objects: Count,
  counts: Counts,
  changesPerSecond: Amount,
  lastChangeAt: nullable(Text),
  /** Duration from the first connection attempt to the complete listing. */
  loadMs: nullable(Amount),
  loadBytes: nullable(Count),
  revision: Count,
});
export type PoolStatus = Static<typeof PoolStatus>;

/** The part of the status of a pool connection that is cheap to read. */
export type PoolSummary = Pick<
  PoolStatus,
  "id" | "label" | "state" | "error" | "loadMs"
>;

export const ServerStatus = Type.Object({
  version: Text,
  startedAt: Text,
  uptimeS: Count,
  node: Text,
  demo: Type.Boolean(),
  eventLoop: Type.Object({
    p50Ms: Amount,
    p99Ms: Amount,
    maxMs: Amount,
    /** Event loop utilization, 0 to 1. */
    utilization: Amount,
    blocksOver50Ms: Count,
    longestBlockMs: Amount,
  }),
  parserPool: Type.Object({
    threads: Count,
    queued: Count,
    tasksPerSecond: Amount,
    waitP99Ms: Amount,
    runP99Ms: Amount,
  }),
  memory: Type.Object({
    rssBytes: Count,
    heapUsedBytes: Count,
    externalBytes: Count,
  }),
  /** Connected clients. */
  clients: Count,
});
export type ServerStatus = Static<typeof ServerStatus>;

export const Status = Type.Object({
  server: ServerStatus,
  pools: Type.Record(Type.String(), PoolStatus),
  totals: Type.Object({
    pools: Count,
    objects: Count,
    changesPerSecond: Amount,
    counts: Counts,
  }),
});
export type Status = Static<typeof Status>;

/** Anonymous clients get version and `demo` of the server, and no pools. */
export const VisibleStatus = Type.Object({
  ...Status.properties,
  server: Type.Object({
    ...Type.Partial(ServerStatus).properties,
    version: Text,
    demo: Type.Boolean(),
  }),
});
export type VisibleStatus = Static<typeof VisibleStatus>;

/** Sums over all pools. */
export function toTotals(pools: readonly PoolStatus[]): Status["totals"] {
  const counts: Record<string, number> = {};
  for (const pool of pools) {
    for (const [className, count] of Object.entries(pool.counts))
      counts[className] = (counts[className] ?? 0) + count;
  }
  const sum = (of: (pool: PoolStatus) => number) =>
    pools.reduce((total, pool) => total + of(pool), 0);
  return {
    pools: pools.length,
    objects: sum((pool) => pool.objects),
    changesPerSecond:
      Math.round(sum((pool) => pool.changesPerSecond) * 10) / 10,
    counts,
  };
}
