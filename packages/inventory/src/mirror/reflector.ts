import { XoError } from "@xo-server/model";
import { pause, type WallClock } from "@xo-server/kit";
import {
  isOlderToken,
  type EventPosition,
  type XapiEvents,
} from "@xo-server/xen-api";
import { backoffMs } from "./backoff.js";
import { ClassListings, type ClassListingsOptions } from "./class-listings.js";
import { DueWait } from "./due-wait.js";
import type { ListingLimiter } from "./listing-limiter.js";
import { Staleness } from "./staleness.js";
import { TokenWaiters } from "./token-waiters.js";
import { untilConnected } from "./until-connected.js";
import type { SnapshotStatus } from "../snapshot-cache/frame.js";

/** State of the mirror of a pool; the diagram is in docs/inventory.md. */
export type ReflectorState =
  | "connecting"
  | "listing"
  | "watching"
  | "backing-off"
  | "re-listing"
  | "stopped";

export interface ReflectorOptions extends Omit<ClassListingsOptions, "now"> {
  /**
   * Loads the snapshot of the last run into the store; undefined when there is
   * none. Never rejects.
   */
  readonly restore: (
    signal: AbortSignal,
  ) => Promise<SnapshotStatus | undefined>;
  readonly throttleMs?: number;
  /** Limits concurrent listings; shared by all pools. */
  readonly listings: ListingLimiter;
  readonly clock: WallClock;
  readonly onState: () => void;
}

/**
 * Keeps a store in sync with its pool (list and watch): lists all classes,
 * applies events, and lists again when events were lost.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #abort = new AbortController();
  readonly #listings: ClassListings;
  readonly #waiters = new TokenWaiters();
  #state: ReflectorState = "connecting";
  /** The last attempt to connect has failed. */
  #isUnreachable = false;
  #since: number;
  readonly #staleness: Staleness;
  /** The pool does not answer event.from. */
  #silence: Error | undefined;
  /** Changes up to this position are in the store; undefined while the pool must be listed. */
  #position: EventPosition | undefined;
  /** Events since the snapshot or the last disconnection have not been applied. */
  #isBehind = true;
  #hasListed = false;
  /** Failed or lost watches since the last event that was applied. */
  #attempts = 0;
  #restored: Promise<void> | undefined;
  #ended: Promise<void> | undefined;
  /** Ends the wait for the next event, so that due classes are listed. */
  readonly #waiting: DueWait;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    const { clock, onState } = options;
    this.#since = clock.now();
    this.#waiting = new DueWait(clock);
    this.#staleness = new Staleness({ clock, onChange: onState });
    this.#listings = new ClassListings({
      ...options,
      now: () => options.clock.now(),
    });
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
    return this.#staleness.since;
  }

  get lastError(): Error | undefined {
    return this.#staleness.lastError;
  }

  /** Token of the last event.from that was applied. */
  get token(): string | undefined {
    return this.#position?.token;
  }

  /**
   * Where the events can continue after a restart; undefined while the store may
   * differ from the pool as of this position.
   */
  get position(): EventPosition | undefined {
    return this.#listings.error === undefined ? this.#position : undefined;
  }

  /**
   * True once the store has held all objects of the pool: after a complete
   * listing or a restore.
   */
  get hasListed(): boolean {
    return this.#hasListed;
  }

  /**
   * The pool is listed for the first time, or connected for that; false once
   * connecting has failed, until it is connected.
   */
  get isFirstListing(): boolean {
    if (this.#hasListed) return false;
    const isConnecting = this.#state === "connecting" && !this.#isUnreachable;
    return isConnecting || this.#state === "listing";
  }

  get mirrored(): ReadonlySet<string> {
    return this.#listings.mirrored;
  }

  isMirrored(className: string): boolean {
    return this.#listings.mirrored.has(className);
  }

  /**
   * Lists the class soon, because it may differ from the pool.
   * @returns when that was tried
   */
  requestListing(className: string): Promise<void> {
    const listed = this.#listings.request(className);
    this.#waiting.wake();
    return listed;
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
    if (this.token === undefined || isOlderToken(this.token, token))
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
      if (name !== "connected") {
        this.#isBehind = true;
        this.#markStale();
      }
      if (name === "backing-off") this.#setUnreachable(true);
      if (name === "connected") this.#setUnreachable(false);
    });
    this.#restored = this.#restore();
    while (!this.#abort.signal.aborted) await this.#cycle();
    await this.#restored;
    unsubscribe();
    this.#markStale();
    this.#waiters.resolveAll();
    this.#enter("stopped");
  }

  #setUnreachable(isUnreachable: boolean): void {
    if (this.#isUnreachable === isUnreachable) return;
    this.#isUnreachable = isUnreachable;
    if (!this.#hasListed) this.#options.onState();
  }

  /** The objects of the snapshot count as listed, at the time of the snapshot. */
  async #restore(): Promise<void> {
    const restoring = this.#options.restore(this.#abort.signal);
    // The status is "loading" until it is restored.
    this.#options.onState();
    const restored = await restoring;
    if (restored !== undefined) {
      this.#listings.restore(restored.classes);
      this.#hasListed = true;
      this.#staleness.restore(restored.asOf);
      this.#position = restored.position;
    }
    this.#options.onState();
  }

  /**
   * One cycle: wait for the connection, list unless events can continue, watch
   * until the watch is lost. Backs off after an error.
   */
  async #cycle(): Promise<void> {
    const { signal } = this.#abort;
    try {
      await Promise.all([this.#untilConnected(), this.#restored]);
      if (signal.aborted) return;
      const { listings } = this.#options;
      const from =
        (await this.#resume()) ??
        (await listings.run(signal, () => this.#list()));
      await this.#watch(from);
      this.#attempts++;
    } catch (error) {
      if (signal.aborted) return;
      this.#attempts++;
      this.#onFailure(error as Error);
      await this.#backOff();
      return;
    }
    // Only repeatedly lost watches without a single event in between cause a wait.
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
   * Continues from the last event, of this run or of the snapshot. Whether the
   * token is still valid is checked by the event stream. After repeated failures the
   * pool is listed: its event.from may fail always.
   * @returns undefined: the pool must be listed
   */
  async #resume(): Promise<EventPosition | undefined> {
    const { position } = this;
    if (position?.issuer === undefined || this.#attempts > 1) return undefined;
    const canContinue = await this.#listings.resume(position.token);
    return canContinue ? position : undefined;
  }

  /**
   * Lists all classes. The token is taken before the listing: changes during
   * the listing come again as events, with newer records.
   * @returns the position to watch from
   */
  async #list(): Promise<EventPosition> {
    this.#enter(this.#hasListed ? "re-listing" : "listing");
    this.#position = undefined;
    const position = await this.#options.source.eventPosition();
    await this.#listings.listAll(position.token, this.#abort.signal);
    this.#hasListed = true;
    this.#markFresh(position);
    return position;
  }

  /**
   * Applies events until the watch is lost. Classes that are due are listed
   * between two answers: events that come later are newer than the listing.
   * @throws when the event stream ends without having been aborted
   */
  async #watch({ token, issuer }: EventPosition): Promise<void> {
    const { source, classes, throttleMs } = this.#options;
    const { signal } = this.#abort;
    this.#enter("watching");
    const ended = new AbortController();
    const stream = source.events({
      classes: classes ?? ["*"],
      from: token,
      issuer,
      signal: AbortSignal.any([signal, ended.signal]),
      ...(throttleMs === undefined ? {} : { throttleMs }),
    });
    const events = stream[Symbol.asyncIterator]();
    try {
      await this.#follow(events);
    } finally {
      ended.abort();
      // Not awaited: a poll in progress may take until its timeout to end.
      events.return?.(undefined).catch(() => undefined);
    }
  }

  async #follow(events: AsyncIterator<XapiEvents>): Promise<void> {
    const { logger, label } = this.#options;
    const { signal } = this.#abort;
    let next = events.next();
    while (!signal.aborted) {
      const item = await this.#waiting.for(next, this.#listings.nextDueAt);
      if (item === "due") {
        await this.#listings.listDue(signal);
        this.#settle();
        continue;
      }
      if (item.done === true) break;
      if (item.value.kind === "lost") {
        logger.info(`${label}: listing again: ${item.value.reason}`);
        this.#position = undefined;
        this.#markStale();
        return;
      }
      if (item.value.kind === "silent") this.#onSilence(item.value);
      else await this.#apply(item.value);
      next = events.next();
    }
    if (!signal.aborted)
      throw new XoError("CONNECTION_LOST", {
        address: label,
        reason: "the events ended",
      });
  }

  async #apply(event: XapiEvents & { kind: "changes" }): Promise<void> {
    const { store, run } = this.#options;
    await Promise.all(event.batches.map((batch) => run(store.apply(batch))));
    this.#attempts = 0;
    this.#markFresh({ ...this.#position, token: event.token });
    await this.#listings.listDiffering(
      event.token,
      event.validRefCounts,
      this.#abort.signal,
    );
    this.#settle();
    await run(store.compact());
  }

  /** The session may be alive: only this shows that changes are missed. */
  #onSilence({ forMs, error }: XapiEvents & { kind: "silent" }): void {
    const { logger, label, clock } = this.#options;
    this.#silence = this.#staleness.lastError = error;
    logger.warn(`${label}: ${error.message}`);
    this.#markStale(clock.now() - forMs);
  }

  #onFailure(error: Error): void {
    const { logger, label } = this.#options;
    this.#staleness.lastError = error;
    this.#markStale();
    logger.warn(`${label}: ${error.message}`);
  }

  async #backOff(): Promise<void> {
    const { backoff, random, clock } = this.#options;
    this.#enter("backing-off");
    await pause(
      clock,
      backoffMs(backoff, this.#attempts, random()),
      this.#abort.signal,
    );
  }

  /** The store is current up to this position. */
  #markFresh(position: EventPosition): void {
    this.#position = position;
    this.#isBehind = this.#options.source.state.name !== "connected";
    this.#silence = undefined;
    this.#waiters.advanceTo(position.token);
    this.#settle();
  }

  /** The mirror is stale while a class has failed or events are missing, with that error. */
  #settle(): void {
    if (this.#isBehind) return;
    this.#staleness.settle(this.#silence ?? this.#listings.error);
  }

  /** Before the first complete listing nothing can be out of date. */
  #markStale(since?: number): void {
    if (this.#hasListed) this.#staleness.mark(since);
  }

  #enter(state: ReflectorState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#since = this.#options.clock.now();
    this.#options.onState();
  }
}
