import type { Store } from "@xo-server/store";
import type { PoolState, PoolStatus } from "./status.js";

/** Response of /health. */
export interface Health {
  /** The process responds. */
  readonly live: true;
  /**
   * Started, and every pool was listed once or has failed and is being retried.
   */
  readonly ready: boolean;
  /** The server is stopping: load balancers must send it no more clients. */
  readonly draining: boolean;
  /**
   * The server has handed over its background work and must get no new clients;
   * existing clients are served.
   */
  readonly leaving: boolean;
  readonly pools: {
    readonly total: number;
    readonly byState: Partial<Record<PoolState, number>>;
  };
  /** Unavailable: reads continue, changes are refused. */
  readonly store: Store["state"];
}

/** States of a pool before its first listing, without a failure. */
const STARTING_STATES: ReadonlySet<PoolState> = new Set([
  "connecting",
  "listing",
]);

export interface Readiness {
  /** The start is complete. */
  isReady: boolean;
  isDraining: boolean;
  /** See Cluster. */
  readonly isLeaving: boolean;
}

/** Ready: started, not stopping, and no pool is being loaded for the first time. */
export function toHealth(
  { isReady, isDraining, isLeaving }: Readonly<Readiness>,
  pools: readonly PoolStatus[],
  store: Store["state"],
): Health {
  const byState: Partial<Record<PoolState, number>> = {};
  for (const { state } of pools) byState[state] = (byState[state] ?? 0) + 1;
  return {
    live: true,
    ready: isReady && !isDraining && !isLeaving && pools.every(isSettled),
    draining: isDraining,
    leaving: isLeaving,
    pools: { total: pools.length, byState },
    store,
  };
}

function isSettled({ state, loadMs, error }: PoolStatus): boolean {
  return loadMs !== null || error !== null || !STARTING_STATES.has(state);
}
