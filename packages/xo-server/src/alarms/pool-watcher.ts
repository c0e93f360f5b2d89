import type { WallClock } from "@xo-server/kit";
import type { PoolState, PoolStatus } from "../status/status.js";
import type {
  MatchHandler,
  UnmatchedState,
  ConditionWatcher,
} from "./match.js";

export interface PoolWatcherOptions {
  readonly listPools: () => readonly PoolStatus[];
  readonly clock: WallClock;
}

/** There are about a hundred pools; a check takes microseconds. */
const CHECK_MS = 1_000;

/** Not `stopped`: these connections are disabled on purpose. */
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

  constructor(handler: MatchHandler, options: PoolWatcherOptions) {
    this.#handler = handler;
    this.#options = options;
    this.#check();
  }

  unmatchedState(): UnmatchedState {
    return "ended";
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #check(): void {
    const { listPools, clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      this.#check();
    }, CHECK_MS);
    const disconnected = listPools().filter(({ state }) =>
      DISCONNECTED.includes(state),
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
