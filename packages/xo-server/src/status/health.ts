import type { Store } from "@xo-server/store";
import type { PoolState, PoolStatus } from "./status.js";

/** What /health tells. */
export interface Health {
  /** The process answers. */
  readonly live: true;
  /** Started, and every pool has been listed once, or has failed and is being tried again. */
  readonly ready: boolean;
  readonly pools: {
    readonly total: number;
    readonly byState: Partial<Record<PoolState, number>>;
  };
  /** Unavailable: what is known goes on being served, nothing can be changed. */
  readonly store: Store["state"];
}

/** A pool that has not come in yet, without having failed. */
const ON_ITS_WAY: ReadonlySet<PoolState> = new Set(["connecting", "listing"]);

export function toHealth(
  started: boolean,
  pools: readonly PoolStatus[],
  store: Store["state"],
): Health {
  const byState: Partial<Record<PoolState, number>> = {};
  for (const { state } of pools) byState[state] = (byState[state] ?? 0) + 1;
  return {
    live: true,
    ready: started && pools.every(isSettled),
    pools: { total: pools.length, byState },
    store,
  };
}

function isSettled({ state, loadMs, error }: PoolStatus): boolean {
  return loadMs !== null || error !== null || !ON_ITS_WAY.has(state);
}
