import type { ChangeFeed } from "../feed/change-feed.js";
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
  "store" | "label"
> {
  readonly id: string;
  readonly label?: string;
  readonly feed: ChangeFeed;
}

/** A pool's store and the reflector that keeps it. */
export class PoolMirror {
  readonly store: PoolStore;
  readonly #reflector: Reflector;
  readonly #rate: Rate;
  #lastChangeAt: number | undefined;

  constructor(options: PoolMirrorOptions) {
    const { id, feed, clock } = options;
    this.#rate = new Rate(() => clock.now());
    this.store = new PoolStore({
      poolId: id,
      feed,
      isMirrored: (className) => this.#reflector.isMirrored(className),
      onChanged: (count) => {
        // What comes in first is no change of the pool: 100,000 of them would stand in the mean for seconds.
        if (this.#reflector.state !== "listing") this.#rate.add(count);
        this.#lastChangeAt = clock.now();
      },
    });
    this.#reflector = new Reflector({
      ...options,
      label: options.label ?? id,
      store: this.store,
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

  stop(): Promise<void> {
    return this.#reflector.stop();
  }
}
