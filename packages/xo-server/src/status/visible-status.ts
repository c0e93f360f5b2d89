import {
  toTotals,
  type PoolStatus,
  type Status,
  type VisibleStatus,
} from "./status.js";

/** The part of the status that a client may read. */
export interface Audience {
  /** Equal for all clients that may read the same. */
  readonly key: string;
  show(status: Status): VisibleStatus;
}

/** For clients that may read all pools. */
export const everything: Audience = {
  key: "everything",
  show: (status) => status,
};

/** For anonymous clients, who only get what a sign-in page needs and nothing about pools. */
export const anonymous: Audience = {
  key: "anonymous",
  show: ({ server: { version, demo } }) => ({
    server: { version, demo },
    pools: {},
    totals: toTotals([]),
  }),
};

/**
 * For users who may read some pools. Of other pools they only see whether they are
 * connected, by the UUID that the users' own objects contain as `$pool`.
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
