import { XoError } from "@xo-server/model";
import { isOlderToken, type Clock, type Logger } from "@xo-server/xen-api";
import { listingOrder } from "./class-order.js";
import { CountCheck } from "./count-check.js";
import { inParallel } from "./in-parallel.js";
import { listingFailure } from "./listing-failure.js";
import type { ListingTurns } from "./listing-turns.js";
import { pause } from "./pause.js";
import type { PoolSource } from "./pool-source.js";
import { TokenWaiters } from "./token-waiters.js";
import { untilConnected } from "./until-connected.js";
import type { MemoryStatus } from "../memory/frame.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer.js";

/** See the diagram in README.md. */
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
  /** Does steps in the pool's lane, in order. */
  readonly run: (steps: Steps) => Promise<void>;
  /** Fills the store with what the last run knew; undefined: nothing. Never rejects. */
  readonly remember: (signal: AbortSignal) => Promise<MemoryStatus | undefined>;
  /** Only these; default: all that the pool can list. */
  readonly classes?: readonly string[];
  readonly throttleMs?: number;
  /** Shared by all pools. */
  readonly turns: ListingTurns;
  /** Classes listed at a time. */
  readonly parallelLists: number;
  readonly backoff: BackoffOptions;
  readonly random: () => number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly onState: () => void;
}

export interface BackoffOptions {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Keeps a store like its pool: lists, watches, and lists anew when the watch was broken. */
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
  /** Attempts since the pool last told changes. */
  #attempts = 0;
  #remembered: Promise<void> | undefined;
  #ended: Promise<void> | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#since = options.clock.now();
    this.#counts = new CountCheck({ now: () => options.clock.now() });
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** When the state was entered. */
  get since(): number {
    return this.#since;
  }

  /** From when on the store may differ from the pool without our knowing. */
  get staleSince(): number | undefined {
    return this.#staleSince;
  }

  get lastError(): Error | undefined {
    return this.#lastError;
  }

  /** Up to where changes have been taken. */
  get token(): string | undefined {
    return this.#token;
  }

  /** The store holds, or held once, all that the pool has. */
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
   * Resolves when all that the pool has changed by now is in the store. It may
   * take long where the pool is lost meanwhile.
   * @throws what the pool said when it was asked
   */
  async caughtUp(): Promise<void> {
    const token = await this.#options.source.injectToken();
    if (this.#abort.signal.aborted) return;
    if (this.#token === undefined || isOlderToken(this.#token, token))
      await this.#waiters.wait(token);
  }

  /** Resolves when nothing of it runs any more. The store stays as it is. */
  async stop(): Promise<void> {
    this.#abort.abort(new XoError("ABORTED", { what: this.#options.label }));
    await this.#ended;
  }

  async #run(): Promise<void> {
    const leave = this.#options.source.onState(({ name }) => {
      if (name !== "connected") this.#markStale();
    });
    this.#remembered = this.#remember();
    while (!this.#abort.signal.aborted) await this.#cycle();
    await this.#remembered;
    leave();
    this.#markStale();
    this.#waiters.end();
    this.#enter("stopped");
  }

  /** What the last run knew counts as listed, a while ago. */
  async #remember(): Promise<void> {
    const remembered = await this.#options.remember(this.#abort.signal);
    if (remembered === undefined) return;
    for (const name of remembered.classes) this.#mirrored.add(name);
    this.#hasListed = true;
    this.#staleSince = remembered.asOf;
    this.#options.onState();
  }

  /** One life of a watch: connect, list, watch until it breaks; back off where it broke soon. */
  async #cycle(): Promise<void> {
    const { signal } = this.#abort;
    try {
      await Promise.all([this.#untilConnected(), this.#remembered]);
      if (signal.aborted) return;
      const { turns } = this.#options;
      const token = await turns.take(signal, () => this.#list());
      await this.#watch(token);
      this.#attempts++;
    } catch (error) {
      if (signal.aborted) return;
      this.#attempts++;
      this.#failed(error as Error);
      await this.#backOff();
      return;
    }
    // One lost watch is nothing; one that is lost again before it told anything is.
    if (this.#attempts > 1 && !signal.aborted) await this.#backOff();
  }

  async #untilConnected(): Promise<void> {
    const { source } = this.#options;
    const { signal } = this.#abort;
    if (source.state.name === "connected" || signal.aborted) return;
    this.#enter("connecting");
    await untilConnected(source, signal);
  }

  /** Lists all classes. Returns the token of before: what happened meanwhile comes again as events. */
  async #list(): Promise<string> {
    const { source, classes, parallelLists } = this.#options;
    this.#enter(this.#hasListed ? "re-listing" : "listing");
    const token = await source.injectToken();
    const listable = await source.listableClasses();
    const wanted = classes ?? listable;
    this.#mirrored.clear();
    for (const name of listable)
      if (wanted.includes(name)) this.#mirrored.add(name);
    const order = listingOrder([...this.#mirrored]);
    await inParallel(order, parallelLists, this.#abort.signal, (name, signal) =>
      this.#listClass(name, signal),
    );
    this.#abort.signal.throwIfAborted();
    await this.#dropUnlisted();
    this.#hasListed = true;
    this.#freshen(token);
    return token;
  }

  /** Classes of the last run, or of before an upgrade, that the pool has no more or nobody wants. */
  async #dropUnlisted(): Promise<void> {
    const { store, run } = this.#options;
    for (const className of store.counts.keys())
      if (!this.#mirrored.has(className))
        await run(store.sweep(store.beginListing(className)));
  }

  /** @throws what concerns more than this class */
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
          // Awaited below, when the listing has ended: until then nobody looks.
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

  /** Takes changes until the watch is lost. */
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
    for await (const told of events) {
      if (told.kind === "lost") {
        logger.info(`${label}: listing anew: ${told.reason}`);
        this.#markStale();
        return;
      }
      await Promise.all(told.batches.map((batch) => run(store.apply(batch))));
      this.#attempts = 0;
      this.#freshen(told.token);
      await this.#repair(told.validRefCounts);
      await run(store.compact());
    }
    if (!signal.aborted)
      throw new XoError("CONNECTION_LOST", {
        address: label,
        reason: "the events ended",
      });
  }

  /** Lists the classes of which deletions were dropped. Events go on from where they were: they are newer. */
  async #repair(counts: ReadonlyMap<string, number>): Promise<void> {
    const { store, logger, label } = this.#options;
    const due = this.#counts.due(this.#mirrored, counts, (className) =>
      store.count(className),
    );
    for (const className of due) {
      logger.debug(
        `${label}: ${className}: the pool has ${counts.get(className)}, the inventory ${store.count(className)}`,
      );
      const before = store.revision;
      await this.#listClass(className, this.#abort.signal);
      this.#counts.listed(className, store.revision > before);
    }
  }

  #failed(error: Error): void {
    const { logger, label } = this.#options;
    this.#lastError = error;
    this.#markStale();
    logger.warn(`${label}: ${error.message}`);
  }

  async #backOff(): Promise<void> {
    const { backoff, random, clock } = this.#options;
    this.#enter("backing-off");
    const most = Math.min(
      backoff.mostMs,
      backoff.firstMs * 2 ** Math.min(this.#attempts - 1, 30),
    );
    await pause(clock, most * (0.5 + random() / 2), this.#abort.signal);
  }

  #freshen(token: string): void {
    this.#token = token;
    this.#waiters.reached(token);
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
