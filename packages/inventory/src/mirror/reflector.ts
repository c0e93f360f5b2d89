import { XoError } from "@xo-server/model";
import { pause, type Logger, type WallClock } from "@xo-server/kit";
import { isOlderToken } from "@xo-server/xen-api";
import { listingOrder } from "./class-order.js";
import { CountCheck } from "./count-check.js";
import { inParallel } from "./in-parallel.js";
import { listingFailure } from "./listing-failure.js";
import type { ListingLimiter } from "./listing-limiter.js";
import type { PoolSource } from "./pool-source.js";
import { TokenWaiters } from "./token-waiters.js";
import { untilConnected } from "./until-connected.js";
import type { SnapshotStatus } from "../snapshot-cache/frame.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer/slicer.js";

/** State of the mirror of a pool; the diagram is in docs/inventory.md. */
export type ReflectorState =
  | "connecting"
  | "listing"
  | "watching"
  | "backing-off"
  | "re-listing"
  | "stopped";

export interface ReflectorOptions {
  readonly label: string;
  readonly source: PoolSource;
  readonly store: PoolStore;
  /** Runs steps in the pool's lane of the slicer, in the order of the calls. */
  readonly run: (steps: Steps) => Promise<void>;
  /**
   * Loads the snapshot of the last run into the store; undefined when there is
   * none. Never rejects.
   */
  readonly restore: (
    signal: AbortSignal,
  ) => Promise<SnapshotStatus | undefined>;
  /** Only these classes; default: all classes that the pool can list. */
  readonly classes?: readonly string[];
  readonly throttleMs?: number;
  /** Limits concurrent listings; shared by all pools. */
  readonly listings: ListingLimiter;
  /** Number of classes of a pool that are listed at a time. */
  readonly parallelLists: number;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly onState: () => void;
}

export interface BackoffOptions {
  /** Wait after the first failure, in milliseconds. */
  readonly firstMs: number;
  /** Upper bound of the wait, in milliseconds. */
  readonly maxMs: number;
}

/**
 * Keeps a store in sync with its pool (list and watch): lists all classes,
 * applies events, and lists again when events were lost.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #abort = new AbortController();
  readonly #mirrored = new Set<string>();
  readonly #counts: CountCheck;
  readonly #waiters = new TokenWaiters();
  #state: ReflectorState = "connecting";
  #since: number;
  #staleSince: number | undefined;
  #lastError: Error | undefined;
  #token: string | undefined;
  #hasListed = false;
  /** Failed or lost watches since the last event that was applied. */
  #attempts = 0;
  #restored: Promise<void> | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#counts = new CountCheck({ now: () => options.clock.now() });
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Time when the state was entered. */
  get since(): number {
    return this.#since;
  }

  /**
   * Since when the store may differ from the pool; undefined while it is
   * watched.
   */
  get staleSince(): number | undefined {
    return this.#staleSince;
  }

  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Token of the last event.from that was applied. */
  get token(): string | undefined {
    return this.#token;
  }

  /**
   * True once the store has held all objects of the pool: after a complete
   * listing or a restore.
   */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  get mirrored(): ReadonlySet<string> {
    return this.#mirrored;
  }

  isMirrored(className: string): boolean {
    return this.#mirrored.has(className);
  }

  start(): void {
    this.#ended ??= this.#run();
  }

  /**
   * Resolves when all changes made in the pool before the call have been
   * applied: `event.inject` returns a token, and the watch must reach it. Takes
   * long when the connection is lost meanwhile.
   * @throws the error of event.inject
   */
  async catchUp(): Promise<void> {
    const token = await this.#options.source.injectToken();
    if (this.#abort.signal.aborted) return;
    if (this.#token === undefined || isOlderToken(this.#token, token))
      await this.#waiters.wait(token);
  }

  /**
   * Resolves when the mirror has stopped. The objects stay in the store, marked
   * as stale.
   */
  async stop(): Promise<void> {
    this.#abort.abort(new XoError("ABORTED", { what: this.#options.label }));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const unsubscribe = this.#options.source.onState(({ name }) => {
      if (name !== "connected") this.#markStale();
    });
    this.#restored = this.#restore();
    while (!this.#abort.signal.aborted) await this.#cycle();
    await this.#restored;
    unsubscribe();
    this.#markStale();
    this.#waiters.resolveAll();
    this.#enter("stopped");
  }

  /** The objects of the snapshot count as listed, at the time of the snapshot. */
  async #restore(): Promise<void> {
    const restored = await this.#options.restore(this.#abort.signal);
    if (restored === undefined) return;
    for (const name of restored.classes) this.#mirrored.add(name);
    this.#hasListed = true;
    this.#staleSince = restored.asOf;
    this.#options.onState();
  }

  /**
   * One cycle: wait for the connection, list, watch until the watch is lost.
   * Backs off after an error.
   */
  async #cycle(): Promise<void> {
    const { signal } = this.#abort;
    try {
      await Promise.all([this.#untilConnected(), this.#restored]);
      if (signal.aborted) return;
      const { listings } = this.#options;
      const token = await listings.run(signal, () => this.#list());
      await this.#watch(token);
      this.#attempts++;
    } catch (error) {
      if (signal.aborted) return;
      this.#attempts++;
      this.#onFailure(error as Error);
      await this.#backOff();
      return;
    }
    // A single lost watch is no reason to wait; a watch lost again without a
    // single event is.
    if (this.#attempts > 1 && !signal.aborted) await this.#backOff();
  }

  async #untilConnected(): Promise<void> {
    const { source } = this.#options;
    const { signal } = this.#abort;
    if (source.state.name === "connected" || signal.aborted) return;
    this.#enter("connecting");
    await untilConnected(source, signal);
  }

  /**
   * Lists all classes. The token is taken before the listing: changes during
   * the listing come again as events, with newer records.
   * @returns the token to watch from
   */
  async #list(): Promise<string> {
    const { source, classes, parallelLists } = this.#options;
    this.#enter(this.#hasListed ? "re-listing" : "listing");
    const token = await source.injectToken();
    const listable = await source.listableClasses();
    const requested = classes ?? listable;
    this.#mirrored.clear();
    for (const name of listable)
      if (requested.includes(name)) this.#mirrored.add(name);
    const order = listingOrder([...this.#mirrored]);
    await inParallel(order, parallelLists, this.#abort.signal, (name, signal) =>
      this.#listClass(name, signal),
    );
    this.#abort.signal.throwIfAborted();
    await this.#dropUnlisted();
    this.#hasListed = true;
    this.#markFresh(token);
    return token;
  }

  /**
   * Removes objects of classes that are no longer listed: from the snapshot,
   * from before an upgrade, or not configured any more.
   */
  async #dropUnlisted(): Promise<void> {
    const { store, run } = this.#options;
    for (const className of store.counts.keys())
      if (!this.#mirrored.has(className))
        await run(store.sweep(store.beginListing(className)));
  }

  /**
   * Lists one class and removes objects that the listing did not contain.
   * @throws errors of the connection or session, which concern all classes
   */
  async #listClass(className: string, signal: AbortSignal): Promise<void> {
    const { source, store, run, logger, label } = this.#options;
    const listing = store.beginListing(className);
    const applied: Promise<void>[] = [];
    try {
      await source.listRecords(className, {
        signal,
        priority: "bulk",
        onBatch: (batch) => {
          const done = run(store.apply(batch, listing));
          // Awaited below, after the listing; until then a rejection must not
          // count as unhandled.
          done.catch(() => undefined);
          applied.push(done);
        },
      });
      await Promise.all(applied);
      await run(store.sweep(listing));
    } catch (error) {
      await Promise.allSettled(applied);
      const failure = listingFailure(error);
      if (failure === "pool") throw error;
      logger.warn(
        `${label}: ${className} cannot be listed: ${(error as Error).message}`,
      );
      if (failure === "class") return;
      this.#mirrored.delete(className);
      await run(store.sweep(store.beginListing(className)));
    }
  }

  /**
   * Applies events until the watch is lost.
   * @throws when the event stream ends without having been aborted
   */
  async #watch(from: string): Promise<void> {
    const { source, classes, throttleMs, store, run, logger, label } =
      this.#options;
    const { signal } = this.#abort;
    this.#enter("watching");
    const events = source.events({
      classes: classes ?? ["*"],
      from,
      signal,
      ...(throttleMs === undefined ? {} : { throttleMs }),
    });
    for await (const event of events) {
      if (event.kind === "lost") {
        logger.info(`${label}: listing again: ${event.reason}`);
        this.#markStale();
        return;
      }
      await Promise.all(event.batches.map((batch) => run(store.apply(batch))));
      this.#attempts = 0;
      this.#markFresh(event.token);
      await this.#repair(event.validRefCounts);
      await run(store.compact());
    }
    if (!signal.aborted)
      throw new XoError("CONNECTION_LOST", {
        address: label,
        reason: "the events ended",
      });
  }

  /**
   * Lists the classes for which XAPI has dropped deletions. The watch continues
   * from its token: its events are newer than the listing.
   */
  async #repair(counts: ReadonlyMap<string, number>): Promise<void> {
    const { store, logger, label } = this.#options;
    const due = this.#counts.due(this.#mirrored, counts, (className) =>
      store.count(className),
    );
    for (const className of due) {
      logger.debug(
        `${label}: ${className}: the pool has ${counts.get(className)}, the mirror ${store.count(className)}`,
      );
      const before = store.revision;
      await this.#listClass(className, this.#abort.signal);
      this.#counts.recordListing(className, store.revision > before);
    }
  }

  #onFailure(error: Error): void {
    const { logger, label } = this.#options;
    this.#lastError = error;
    this.#markStale();
    logger.warn(`${label}: ${error.message}`);
  }

  /** Waits an exponentially growing time with jitter: 50 to 100 % of the bound. */
  async #backOff(): Promise<void> {
    const { backoff, random, clock } = this.#options;
    this.#enter("backing-off");
    const maxDelayMs = Math.min(
      backoff.maxMs,
      backoff.firstMs * 2 ** Math.min(this.#attempts - 1, 30),
    );
    await pause(clock, maxDelayMs * (0.5 + random() / 2), this.#abort.signal);
  }

  /** The store is current up to this token. */
  #markFresh(token: string): void {
    this.#token = token;
    this.#waiters.advanceTo(token);
    if (this.#options.source.state.name !== "connected") return;
    this.#lastError = undefined;
    if (this.#staleSince === undefined) return;
    this.#staleSince = undefined;
    this.#options.onState();
  }

  #markStale(): void {
    if (!this.#hasListed || this.#staleSince !== undefined) return;
    this.#staleSince = this.#options.clock.now();
    this.#options.onState();
  }

  #enter(state: ReflectorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = this.#options.clock.now();
    this.#options.onState();
  }
}
