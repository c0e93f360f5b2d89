import type { Store } from "@xo-server/store";
import type { PoolState, PoolSummary } from "./status.js";

/** Response of /health. */
export interface Health {
  /** The process responds. */
  readonly live: true;
  /**
   * Started, and every pool of the start was listed once or has failed and is being
   * retried.
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
  /** Another server reaches the database, this one does not: it must get no clients. */
  readonly isolated: boolean;
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

interface HealthSources {
  readonly pools: readonly Pick<PoolSummary, "state">[];
  /** Those of them that were connected during the start. */
  readonly poolsOfStart: readonly PoolSummary[];
  readonly store: Store["state"];
  /** See Health. */
  readonly isIsolated: boolean;
}

/**
 * Ready: started, not stopping, not the only server without the database, and no pool of the start is being loaded. A pool that is
 * added later changes nothing: all servers of a database connect it at the same time,
 * and a load balancer would be left without servers.
 */
export function toHealth(
  { isReady, isDraining, isLeaving }: Readonly<Readiness>,
  { pools, poolsOfStart, store, isIsolated }: HealthSources,
): Health {
  const byState: Partial<Record<PoolState, number>> = {};
  for (const { state } of pools) byState[state] = (byState[state] ?? 0) + 1;
  return {
    live: true,
    ready:
      isReady &&
      !isDraining &&
      !isLeaving &&
      !isIsolated &&
      poolsOfStart.every(isSettled),
    draining: isDraining,
    leaving: isLeaving,
    pools: { total: pools.length, byState },
    store,
    isolated: isIsolated,
  };
}

function isSettled({ state, loadMs, error }: PoolSummary): boolean {
  return loadMs !== null || error !== null || !STARTING_STATES.has(state);
}
