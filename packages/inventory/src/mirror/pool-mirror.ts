import type { ChangeFeed } from "../feed/change-feed.js";
import type { SnapshotStatus } from "../snapshot-cache/frame.js";
import type { Priority, Steps } from "../slicer/slicer.js";
import type { SnapshotCache } from "../snapshot-cache/snapshot-cache.js";
import type {
  CurrentStatus,
  PoolSnapshot,
} from "../snapshot-cache/pool-snapshot.js";
import { PoolStore } from "../store/pool-store.js";
import type { RecordCache } from "../store/record-cache.js";
import type { ListingLimiter } from "./listing-limiter.js";
import type { SegmentServices } from "../store/segments.js";
import {
  PoolVerifier,
  type Verification,
  type VerifierStats,
  type VerifyOptions,
} from "./pool-verifier.js";
import { Rate } from "./rate.js";
import {
  Reflector,
  type ReflectorOptions,
  type ReflectorState,
} from "./reflector.js";

export interface MirrorStatus {
  readonly state: ReflectorState;
  /**
   * Time when the state was entered. All times are milliseconds since the epoch
   * (the inventory's clock).
   */
  readonly since: number;
  /** Since when the objects may be out of date; absent while they are current. */
  readonly staleSince?: number;
  /**
   * The records are incomplete: the restore of the snapshot, the first
   * connection or the first listing is under way. False while the pool cannot be
   * reached.
   */
  readonly isLoading: boolean;
  /** The records have been complete once, by the snapshot or a listing. */
  readonly hasLoaded: boolean;
  /** Last error of connection or listing; absent after the next success. */
  readonly lastError?: Error;
  readonly objects: number;
  /** Number of objects by class, counted when it is read. */
  readonly counts: ReadonlyMap<string, number>;
  /** Feed revision of the pool's last change; 0 before the first. */
  readonly revision: number;
  readonly lastChangeAt?: number;
  /** Mean over the last ten seconds; the first listing does not count. */
  readonly changesPerSecond: number;
  /** Token of the last event.from that was applied. */
  readonly token?: string;
}

interface PoolMirrorOptions extends Omit<
  ReflectorOptions,
  "store" | "label" | "restore" | "run"
> {
  readonly id: string;
  readonly label?: string;
  readonly feed: ChangeFeed;
  readonly snapshots?: SnapshotCache;
  /** Shared by all pools. */
  readonly segments: SegmentServices;
  /** Shared by all pools; records of removed objects are evicted. */
  readonly cache: RecordCache;
  /** Runs steps in the pool's lane of the slicer. */
  readonly run: (steps: Steps, priority?: Priority) => Promise<void>;
}

/**
 * The mirror of one pool: its store, the reflector that updates it, and its
 * snapshot on disk.
 */
export class PoolMirror {
  readonly store: PoolStore;
  readonly #reflector: Reflector;
  readonly #rate: Rate;
  readonly #snapshot: PoolSnapshot | undefined;
  readonly #verifier: PoolVerifier;
  readonly #now: () => number;
  readonly mayConnect: Promise<void>;
  #allowConnection!: () => void;
  #isRestoring = false;
  #lastChangeAt: number | undefined;

  constructor(options: PoolMirrorOptions) {
    const { id, label = id, feed, clock, run } = options;
    this.#now = () => clock.now();
    this.mayConnect = new Promise((resolve) => {
      this.#allowConnection = resolve;
    });
    this.#rate = new Rate(this.#now);
    this.store = new PoolStore({
      poolId: id,
      feed,
      segments: options.segments,
      isMirrored: (className) =>
        this.#isRestoring || this.#reflector.isMirrored(className),
      onRemove: (table, row) => {
        this.#snapshot?.noteRemoval(table, row);
        options.cache.evictRow(table, row);
      },
      onChanged: (count) => {
        if (this.#isRestoring) return;
        // The first listing does not count as changes of the pool: its 100,000
        // objects would dominate the mean for seconds.
        if (this.#reflector.state !== "listing") this.#rate.add(count);
        this.#lastChangeAt = this.#now();
      },
    });
    const { store } = this;
    this.#snapshot = options.snapshots?.openPool({
      poolId: id,
      label,
      store,
      run,
      current: () => this.#current,
    });
    this.#reflector = new Reflector({
      ...options,
      label,
      store,
      restore: (signal) => this.#restore(signal, options.listings),
    });
    const reflector = this.#reflector;
    this.#verifier = new PoolVerifier({
      ...options,
      label,
      store,
      mirrored: () => reflector.mirrored,
      isWatching: () => reflector.state === "watching",
      catchUp: () => reflector.catchUp(),
      repair: (className) => reflector.requestListing(className),
    });
  }

  get changesPerSecond(): number {
    return this.#rate.perSecond;
  }

  get state(): MirrorStatus["state"] {
    return this.#reflector.state;
  }

  get lastError(): MirrorStatus["lastError"] {
    return this.#reflector.lastError;
  }

  status(): MirrorStatus {
    const { state, since, staleSince, lastError, token } = this.#reflector;
    const lastChangeAt = this.#lastChangeAt;
    const { store } = this;
    return {
      state,
      isLoading: this.#isRestoring || this.#reflector.isFirstListing,
      hasLoaded: !this.#isRestoring && this.#reflector.hasListed,
      since,
      ...(staleSince === undefined ? {} : { staleSince }),
      ...(lastError === undefined ? {} : { lastError }),
      objects: store.objects,
      get counts() {
        return store.counts;
      },
      revision: store.revision,
      ...(lastChangeAt === undefined ? {} : { lastChangeAt }),
      changesPerSecond: this.changesPerSecond,
      ...(token === undefined ? {} : { token }),
    };
  }

  start(): void {
    this.#reflector.start();
  }

  catchUp(): Promise<void> {
    return this.#reflector.catchUp();
  }

  /** See Inventory.verify. */
  verify(options: VerifyOptions): Promise<Verification> {
    return this.#verifier.verify(options);
  }

  get verifierStats(): VerifierStats {
    return this.#verifier.stats;
  }

  async stop(): Promise<void> {
    this.#verifier.stop();
    await this.#reflector.stop();
    await this.#snapshot?.stop();
  }

  /**
   * While the snapshot is loaded, changes are neither counted nor filtered by
   * mirrored classes.
   */
  async #restore(
    signal: AbortSignal,
    listings: ListingLimiter,
  ): Promise<SnapshotStatus | undefined> {
    this.#isRestoring = true;
    try {
      // Listings of other pools wait for the disk, but not for another server.
      const restored = await listings.runFirst(async () =>
        this.#snapshot?.restore(signal),
      );
      if (restored === undefined) this.#allowConnection();
      else void listings.untilAdmitting().then(this.#allowConnection);
      return restored ?? (await this.#snapshot?.restoreCopy(signal));
    } finally {
      this.#isRestoring = false;
    }
  }

  /**
   * State to be written with a checkpoint; undefined before the first complete
   * listing.
   */
  get #current(): CurrentStatus | undefined {
    const { hasListed, staleSince, mirrored, position } = this.#reflector;
    if (!hasListed) return undefined;
    return {
      asOf: staleSince ?? this.#now(),
      isStale: staleSince !== undefined,
      classes: [...mirrored],
      ...(position?.issuer === undefined ? {} : { position }),
    };
  }
}
