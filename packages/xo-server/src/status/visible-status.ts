import {
  toTotals,
  type PoolStatus,
  type Status,
  type VisibleStatus,
} from "./status.js";

/** What a client may read of the status. */
export interface Audience {
  /** Equal for all clients that read the same. */
  readonly key: string;
  show(status: Status): VisibleStatus;
}

/** Clients that may read all pools. */
export const everything: Audience = {
  key: "everything",
  show: (status) => status,
};

/** Anonymous clients get what a sign-in page needs, and nothing of pools. */
export const anonymous: Audience = {
  key: "anonymous",
  show: ({ server: { version, demo } }) => ({
    server: { version, demo },
    pools: {},
    totals: toTotals([]),
  }),
};

/**
 * Signed-in users who may read some pools: of the others only whether they are
 * connected, by the UUID that the users' own objects carry as `$pool`.
 * @param readable UUIDs of pools
 */
export function readersOf(readable: readonly string[]): Audience {
  const own = new Set(readable);
  return {
    key: `pools ${[...own].sort().join(" ")}`,
    show({ server, pools }) {
      const all = Object.values(pools);
      const isOwn = ({ pool }: PoolStatus) => pool !== null && own.has(pool);
      return {
        server,
        pools: Object.fromEntries([
          ...all.filter(isOwn).map((pool) => [pool.id, pool] as const),
          ...all.filter((pool) => !isOwn(pool)).flatMap(toRestricted),
        ]),
        totals: toTotals(all.filter(isOwn)),
      };
    },
  };
}

function toRestricted({
  pool,
  state,
  since,
  staleSince,
}: PoolStatus): [string, PoolStatus][] {
  if (pool === null) return [];
  const hidden: PoolStatus = {
    id: pool,
    label: "",
    pool,
    address: "",
    isRestricted: true,
    state,
    since,
    staleSince,
    error: null,
    transport: null,
    objects: 0,
    counts: {},
    changesPerSecond: 0,
    lastChangeAt: null,
    loadMs: null,
    loadBytes: null,
    revision: 0,
  };
  return [[pool, hidden]];
}
