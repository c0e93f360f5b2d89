import type { Clock } from "../clock.js";
import type { PoolState, PoolStatus } from "../status/status.js";
import type { Findings, Standing, Watcher } from "./finding.js";

export interface PoolWatcherOptions {
  readonly listPools: () => readonly PoolStatus[];
  readonly clock: Clock;
}

/** There are a hundred pools, and looking costs microseconds. */
const LOOK_MS = 1_000;

/** `stopped`: nobody wants it to be connected. */
const AWAY: readonly PoolState[] = ["connecting", "backing-off", "failed"];

/** Follows which pools are not connected. */
export class PoolWatcher implements Watcher {
  readonly #options: PoolWatcherOptions;
  readonly #findings: Findings;
  #timer: unknown;
  #told = new Set<string>();

  constructor(findings: Findings, options: PoolWatcherOptions) {
    this.#findings = findings;
    this.#options = options;
    this.#look();
  }

  standing(): Standing {
    return "ended";
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #look(): void {
    const { listPools, clock } = this.#options;
    this.#timer = clock.setTimeout(() => {
      this.#look();
    }, LOOK_MS);
    const away = listPools().filter(({ state }) => AWAY.includes(state));
    const ids = new Set(away.map(({ id }) => id));
    for (const id of this.#told) if (!ids.has(id)) this.#findings.away(id);
    this.#told = ids;
    for (const { id, label, error } of away)
      this.#findings.holds({
        key: id,
        type: "pool",
        name: label,
        pool: id,
        ...(error === null ? {} : { text: error.message }),
      });
  }
}

/** What is known of the pool's objects is of now. */
export function isFollowed(state: PoolState | undefined): boolean {
  return state === "watching";
}
