import type { ChangeFeed } from "../feed/change-feed.js";
import type { MemoryStatus } from "../memory/frame.js";
import type { Memory } from "../memory/memory.js";
import type { Known, PoolMemory } from "../memory/pool-memory.js";
import { PoolStore } from "../store/pool-store.js";
import { Rate } from "./rate.js";
import {
  Reflector,
  type ReflectorOptions,
  type ReflectorState,
} from "./reflector.js";

export interface PoolStatus {
  readonly state: ReflectorState;
  /** When the state was entered. Times are the inventory's clock's: milliseconds since the epoch. */
  readonly since: number;
  /** Set while the objects may be out of date: from when on. */
  readonly staleSince?: number;
  /** Why the pool was not reached, until it is again. */
  readonly lastError?: Error;
  readonly objects: number;
  readonly counts: ReadonlyMap<string, number>;
  /** Of the pool's last change; 0 before the first. */
  readonly revision: number;
  readonly lastChangeAt?: number;
  /** Mean over the last ten seconds. */
  readonly changesPerSecond: number;
  /** Up to where the pool's events have been taken. */
  readonly token?: string;
}

export interface PoolMirrorOptions extends Omit<
  ReflectorOptions,
  "store" | "label" | "remember"
> {
  readonly id: string;
  readonly label?: string;
  readonly feed: ChangeFeed;
  readonly memory?: Memory;
}

/** A pool's store, the reflector that keeps it, and the memory of the last run. */
export class PoolMirror {
  readonly store: PoolStore;
  readonly #reflector: Reflector;
  readonly #rate: Rate;
  readonly #memory: PoolMemory | undefined;
  readonly #now: () => number;
  #isRestoring = false;
  #lastChangeAt: number | undefined;

  constructor(options: PoolMirrorOptions) {
    const { id, label = id, feed, clock, run } = options;
    this.#now = () => clock.now();
    this.#rate = new Rate(this.#now);
    this.store = new PoolStore({
      poolId: id,
      feed,
      isMirrored: (className) =>
        this.#isRestoring || this.#reflector.isMirrored(className),
      onRemove: (table, row) => {
        this.#memory?.removed(table, row);
      },
      onChanged: (count) => {
        if (this.#isRestoring) return;
        // What comes in first is no change of the pool: 100,000 of them would stand in the mean for seconds.
        if (this.#reflector.state !== "listing") this.#rate.add(count);
        this.#lastChangeAt = this.#now();
      },
    });
    const { store } = this;
    this.#memory = options.memory?.openPool({
      poolId: id,
      label,
      store,
      run,
      known: () => this.#known,
    });
    this.#reflector = new Reflector({
      ...options,
      label,
      store,
      remember: (signal) => this.#remember(signal),
    });
  }

  get changesPerSecond(): number {
    return this.#rate.perSecond;
  }

  get status(): PoolStatus {
    const { state, since, staleSince, lastError, token } = this.#reflector;
    const lastChangeAt = this.#lastChangeAt;
    return {
      state,
      since,
      ...(staleSince === undefined ? {} : { staleSince }),
      ...(lastError === undefined ? {} : { lastError }),
      objects: this.store.objects,
      counts: this.store.counts,
      revision: this.store.revision,
      ...(lastChangeAt === undefined ? {} : { lastChangeAt }),
      changesPerSecond: this.changesPerSecond,
      ...(token === undefined ? {} : { token }),
    };
  }

  start(): void {
    this.#reflector.start();
  }

  caughtUp(): Promise<void> {
    return this.#reflector.caughtUp();
  }

  async stop(): Promise<void> {
    await this.#reflector.stop();
    await this.#memory?.stop();
  }

  async #remember(signal: AbortSignal): Promise<MemoryStatus | undefined> {
    this.#isRestoring = true;
    try {
      return await this.#memory?.restore(signal);
    } finally {
      this.#isRestoring = false;
    }
  }

  /** What the memory writes of how far the pool is known. */
  get #known(): Known | undefined {
    const { hasListed, staleSince, mirrored } = this.#reflector;
    if (!hasListed) return undefined;
    return {
      asOf: staleSince ?? this.#now(),
      isStale: staleSince !== undefined,
      classes: [...mirrored],
    };
  }
}
