import type { WallClock } from "@xo-server/kit";
import type { PoolState, PoolSummary } from "../status/status.js";
import type {
  MatchHandler,
  UnmatchedState,
  ConditionWatcher,
} from "./match.js";

interface PoolWatcherOptions {
  readonly listPools: () => readonly PoolSummary[];
  readonly clock: WallClock;
}

/** A server has about a hundred pools; checking all takes microseconds. */
const CHECK_MS = 1_000;

/** Without `stopped`: an administrator has disabled these connections. */
const DISCONNECTED: readonly PoolState[] = [
  "connecting",
  "backing-off",
  "failed",
];

/** Matches pools that are not connected. */
export class PoolWatcher implements ConditionWatcher {
  readonly #options: PoolWatcherOptions;
  readonly #handler: MatchHandler;
  #timer: unknown;
  #disconnected = new Set<string>();
  /** Pools that have connected, or failed to connect, since the start. */
  readonly #attempted = new Set<string>();

  constructor(handler: MatchHandler, options: PoolWatcherOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#check();
  }

  unmatchedState(key: string): UnmatchedState {
    const pool = this.#options.listPools().find(({ id }) => id === key);
    return pool !== undefined && DISCONNECTED.includes(pool.state)
      ? "unknown"
      : "ended";
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #check(): void {
    const { listPools, clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      this.#check();
    }, CHECK_MS);
    const pools = listPools();
    // The first connection attempt since the start is in progress: the state is unknown.
    for (const { id, state, error } of pools)
      if (state !== "connecting" || error !== null) this.#attempted.add(id);
    const disconnected = pools.filter(
      ({ id, state }) =>
        DISCONNECTED.includes(state) && this.#attempted.has(id),
    );
    const ids = new Set(disconnected.map(({ id }) => id));
    for (const id of this.#disconnected)
      if (!ids.has(id)) this.#handler.cleared(id);
    this.#disconnected = ids;
    for (const { id, label, error } of disconnected)
      this.#handler.matched({
        key: id,
        type: "pool",
        name: label,
        pool: id,
        ...(error === null ? {} : { text: error.message }),
      });
  }
}

/** Whether the mirror follows the pool. */
export function isConnected(state: PoolState | undefined): boolean {
  return state === "watching";
}
