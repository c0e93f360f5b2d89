import { XoError } from "@xo-server/model";
import type { Logger } from "@xo-server/kit";
import type { BackoffOptions } from "./backoff.js";
import { listingOrder } from "./class-order.js";
import { CountCheck } from "./count-check.js";
import { FailedClasses } from "./failed-classes.js";
import { inParallel } from "./in-parallel.js";
import { listingFailure } from "./listing-failure.js";
import { MessageCheck } from "./message-check.js";
import type { PoolSource } from "./pool-source.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Priority, Steps } from "../slicer/slicer.js";

export interface ClassListingsOptions {
  readonly label: string;
  readonly source: PoolSource;
  readonly store: PoolStore;
  /** Runs steps in the pool's lane of the slicer, in the order of the calls. */
  readonly run: (steps: Steps, priority?: Priority) => Promise<void>;
  /** Only these classes; default: all classes that the pool can list. */
  readonly classes?: readonly string[];
  /** Number of classes of a pool that are listed at a time. */
  readonly parallelLists: number;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * Lists the classes of a pool into its store: all of them, then those that
 * failed, and those whose deletions XAPI has dropped.
 */
export class ClassListings {
  readonly #options: ClassListingsOptions;
  readonly #mirrored = new Set<string>();
  readonly #failed: FailedClasses;
  readonly #counts: CountCheck;
  readonly #messages: MessageCheck;
  /** By class: called when the class was listed, or that has failed. */
  readonly #requested = new Map<string, (() => void)[]>();
  #listable: ReadonlySet<string> = new Set();

  constructor(options: ClassListingsOptions) {
    const { now } = options;
    this.#options = options;
    this.#failed = new FailedClasses(options);
    this.#counts = new CountCheck({ now });
    this.#messages = new MessageCheck({ now });
  }

  /** Classes whose events are applied to the store. */
  get mirrored(): ReadonlySet<string> {
    return this.#mirrored;
  }

  /** Why the store may differ from the pool; undefined when all classes were listed. */
  get error(): Error | undefined {
    return this.#failed.error;
  }

  /** Earliest time at which `listDue` has something to do. */
  get nextDueAt(): number | undefined {
    return this.#requested.size > 0
      ? this.#options.now()
      : this.#failed.nextDueAt;
  }

  /** Classes of a snapshot count as listed. */
  restore(classes: Iterable<string>): void {
    for (const name of classes) this.#mirrored.add(name);
  }

  /**
   * Prepares for events without a listing: those of a snapshot need what `listAll` has
   * found out otherwise.
   * @param token the token up to which the store contains all changes
   * @returns false: the pool has other classes than the snapshot, and must be listed
   * @throws errors of the connection or session
   */
  async resume(token: string): Promise<boolean> {
    this.#counts.reset();
    if (this.#listable.size > 0) return true;
    const listable = await this.#options.source.listableClasses();
    const due = listable.filter((name) => this.#isConfigured(name));
    if (due.length !== this.#mirrored.size) return false;
    if (!due.every((name) => this.#mirrored.has(name))) return false;
    this.#listable = new Set(listable);
    this.#messages.resume(token);
    return true;
  }

  /**
   * Lists all classes. Classes that fail are reported by `error` and listed
   * again by `listDue`.
   * @param token the event token from before the listing
   * @throws errors of the connection or session, which concern all classes
   */
  async listAll(token: string, signal: AbortSignal): Promise<void> {
    this.#counts.reset();
    const { source, store, parallelLists, label } = this.#options;
    const listable = await source.listableClasses();
    if (listable.length === 0)
      throw new XoError("BAD_ANSWER", {
        address: label,
        reason: "system.listMethods names no class that can be listed",
        start: "",
      });
    this.#listable = new Set(listable);
    // A class with objects that is no longer listable must be refused, too,
    // before its objects are removed.
    const known = new Set([...listable, ...store.counts.keys()]);
    this.#mirrored.clear();
    for (const name of known)
      if (this.#isConfigured(name)) this.#mirrored.add(name);
    const order = listingOrder([...this.#mirrored]);
    await inParallel(order, parallelLists, signal, (name, aborted) =>
      this.#list(name, aborted),
    );
    signal.throwIfAborted();
    await this.#dropUnlisted();
    this.#messages.reset(token);
  }

  /**
   * The next `listDue` lists this class, because it may differ from the pool.
   * @returns when that was tried
   */
  request(className: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#requested.get(className) ?? [];
      this.#requested.set(className, [...waiting, resolve]);
    });
  }

  /**
   * Lists the requested classes, and those that failed and whose pause has
   * passed.
   * @throws errors of the connection or session
   */
  async listDue(signal: AbortSignal): Promise<void> {
    const requested = new Map(this.#requested);
    this.#requested.clear();
    const due = new Set([...requested.keys(), ...this.#failed.due()]);
    try {
      for (const className of due) await this.#list(className, signal);
    } finally {
      for (const waiting of requested.values())
        for (const resolve of waiting) resolve();
    }
  }

  /**
   * Lists the classes for which XAPI has dropped deletions. The watch continues
   * from its token: its events are newer than the listing.
   * @param counts valid_ref_counts of the answer of event.from with this token
   * @throws errors of the connection or session
   */
  async listDiffering(
    token: string,
    counts: ReadonlyMap<string, number>,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, logger, label } = this.#options;
    const { refused } = this.#failed;
    const due = this.#counts.due(
      new Set([...this.#mirrored, ...refused]),
      counts,
      (className) => store.count(className),
    );
    for (const className of due) {
      logger.debug(
        `${label}: ${className}: the pool has ${counts.get(className)}, the mirror ${store.count(className)}`,
      );
      const hasChanged = await this.#listAgain(className, signal);
      this.#counts.recordListing(className, hasChanged);
    }
    if (this.#messages.isDue(token) && this.#mirrored.has("message"))
      this.#messages.recordListing(await this.#listAgain("message", signal));
  }

  #isConfigured(className: string): boolean {
    return this.#options.classes?.includes(className) ?? true;
  }

  /** @returns whether the listing changed anything in the store */
  async #listAgain(className: string, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    const before = store.revision;
    await this.#list(className, signal);
    return store.revision > before;
  }

  /**
   * Lists one class and removes objects that the listing did not contain.
   * @throws errors of the connection or session, which concern all classes
   */
  async #list(className: string, signal: AbortSignal): Promise<void> {
    this.#mirrored.add(className);
    try {
      await this.#fetch(className, signal);
      this.#failed.recordSuccess(className);
    } catch (error) {
      await this.#afterFailure(className, error as Error);
    }
  }

  async #fetch(className: string, signal: AbortSignal): Promise<void> {
    const { source, store, run } = this.#options;
    const listing = store.beginListing(className);
    const applied: Promise<void>[] = [];
    try {
      await source.listRecords(className, {
        signal,
        priority: "bulk",
        isKept: listing.isFirst,
        onBatch: (batch) => {
          const done = run(store.apply(batch, listing), "bulk");
          // Awaited below, after the listing; until then a rejection must not
          // count as unhandled.
          done.catch(() => undefined);
          applied.push(done);
        },
      });
      await Promise.all(applied);
      await run(store.sweep(listing), "bulk");
    } finally {
      await Promise.allSettled(applied);
    }
  }

  async #afterFailure(className: string, error: Error): Promise<void> {
    const { store, run, logger, label } = this.#options;
    const failure = listingFailure(error);
    if (failure === "pool") throw error;
    logger.warn(`${label}: ${className} cannot be listed: ${error.message}`);
    if (failure === "class") {
      this.#failed.recordFailure(className, error);
      return;
    }
    const isConfirmed = this.#failed.recordRefusal(className, error, {
      isHeld: store.count(className) > 0,
      isListable: this.#listable.has(className),
    });
    if (!isConfirmed) return;
    this.#mirrored.delete(className);
    await run(store.sweep(store.beginListing(className)), "bulk");
  }

  /** Removes objects of classes that are not configured any more. */
  async #dropUnlisted(): Promise<void> {
    const { store, run } = this.#options;
    for (const className of store.counts.keys()) {
      if (this.#mirrored.has(className)) continue;
      this.#failed.remove(className);
      await run(store.sweep(store.beginListing(className)), "bulk");
    }
  }
}
