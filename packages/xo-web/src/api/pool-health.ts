import type { PoolState, PoolStatus, Status } from "./status.js";

/** The pools that the server does not follow at the moment. */
export interface PoolHealth {
  /** Not followed: objects are in their last known state. */
  readonly lost: readonly PoolStatus[];
  /** UUIDs of lost pools whose objects are known. */
  readonly lostIds: ReadonlySet<string>;
  /** Being listed for the first time: their objects are incomplete. */
  readonly loading: readonly PoolStatus[];
  /** With warnings, such as UUIDs that another pool has as well. */
  readonly warned: readonly PoolStatus[];
  readonly total: number;
}

const failing: readonly PoolState[] = ["backing-off", "failed"];
const beginning: readonly PoolState[] = ["connecting", "listing"];

/** @param before returned again if nothing differs, so that nothing is rendered */
export function poolHealth(
  status: Status | undefined,
  before?: PoolHealth,
): PoolHealth {
  const pools = Object.values(status?.pools ?? {}).filter(
    ({ state }) => state !== "stopped",
  );
  const loading = pools.filter(isLoading);
  const lost = pools.filter((pool) => !isLoading(pool) && isLost(pool));
  const ids = lost.flatMap(({ pool }) => (pool == null ? [] : [pool]));
  const isSame =
    before !== undefined &&
    before.lostIds.size === ids.length &&
    ids.every((id) => before.lostIds.has(id));
  return {
    lost,
    // The same set while nothing changes: rows that read it are not drawn again.
    lostIds: isSame ? before.lostIds : new Set(ids),
    loading,
    warned: pools.filter(({ warnings }) => (warnings ?? []).length > 0),
    total: pools.length,
  };
}

function isLost({ state, staleSince }: PoolStatus): boolean {
  return failing.includes(state) || staleSince != null;
}

function isLoading({ state, isLoading, loadMs }: PoolStatus): boolean {
  return isLoading ?? (beginning.includes(state) && loadMs == null);
}
