import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import type { PoolSummary } from "../status/status.js";
import { isConnected } from "./pool-watcher.js";

interface FollowedPoolsOptions {
  readonly listPools: () => readonly PoolSummary[];
  readonly catalog: Pick<Catalog, "settled">;
  readonly clock: WallClock;
  /** Called when the objects of a pool are current and its rules may be evaluated. */
  readonly onFollowed: (pool: string) => void;
}

const CHECK_MS = 1_000;
/** Time after the listing of a pool until live queries have received the changes that it found. */
const SETTLE_MS = 2_000;

/**
 * Pools whose objects are known to be current: the pool is connected, was listed,
 * and live queries have received what the listing has changed. Objects of other
 * pools may be outdated, for example as the previous run of the server has stored
 * them.
 */
export class FollowedPools {
  readonly #options: FollowedPoolsOptions;
  readonly #followed = new Set<string>();
  /** Time of the connection by pool, in ms since the epoch. */
  readonly #settling = new Map<string, number>();
  #connected: ReadonlySet<string> | undefined;
  #timer: unknown;
  #isStopped = false;

  constructor(options: FollowedPoolsOptions) {
    this.#options = options;
  }

  /** Resolves when the pools that are connected now are followed. */
  async start(): Promise<void> {
    const connected = this.#listConnected();
    await this.#options.catalog.settled();
    for (const id of connected) this.#followed.add(id);
    this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  isFollowed(pool: string): boolean {
    if (!this.#followed.has(pool)) return false;
    return this.#listConnected().has(pool);
  }

  /** Computed once for all objects of an update. */
  #listConnected(): ReadonlySet<string> {
    if (this.#connected !== undefined) return this.#connected;
    queueMicrotask(() => (this.#connected = undefined));
    const connected = this.#options
      .listPools()
      .filter(({ state }) => isConnected(state));
    this.#connected = new Set(connected.map(({ id }) => id));
    return this.#connected;
  }

  #check(): void {
    if (this.#isStopped) return;
    const { clock, onFollowed } = this.#options;
    this.#timer = clock.setTimeout(() => this.#check(), CHECK_MS);
    const connected = this.#listConnected();
    for (const known of [this.#followed, this.#settling])
      for (const id of [...known.keys()])
        if (!connected.has(id)) known.delete(id);
    for (const id of connected) {
      if (this.#followed.has(id)) continue;
      const since = this.#settling.get(id) ?? clock.now();
      this.#settling.set(id, since);
      if (clock.now() - since < SETTLE_MS) continue;
      this.#settling.delete(id);
      this.#followed.add(id);
      onFollowed(id);
    }
  }
}
