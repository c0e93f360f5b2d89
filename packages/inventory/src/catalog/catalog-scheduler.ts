import type { Logger, WallClock } from "@xo-server/kit";
import type { Priority, Steps } from "../slicer/slicer.js";

interface CatalogSchedulerOptions {
  readonly clock: WallClock;
  /**
   * Minimum time between two flushes in milliseconds; changes in between are
   * published together.
   */
  readonly windowMs: number;
  /** Runs steps in a lane of the slicer. */
  readonly runInSlices: (
    lane: string,
    steps: Steps,
    priority?: Priority,
  ) => Promise<void>;
  /** Updates and publishes everything that has changed. */
  readonly flush: () => Steps;
  /** Whether something has changed since the running flush passed it. */
  readonly hasChanges: () => boolean;
  /** Whether the last flush has left something for a later one that was there when it began. */
  readonly hasDeferred: () => boolean;
  readonly logger: Pick<Logger, "error">;
}

/** Lane of flushes. Other work of the catalog uses other lanes. */
const FLUSH_LANE = "views";

/** Wait after the first change in milliseconds: changes that a pool reports together arrive within it. */
const GATHER_MS = 10;

/**
 * Decides when the catalog updates its views. A change is published after
 * GATHER_MS when nothing was published in the last window, otherwise at the end of the
 * window. Flushes never overlap.
 */
export class CatalogScheduler {
  readonly #options: CatalogSchedulerOptions;
  /** Set while a flush is planned. */
  #timer: unknown;
  #isFlushing = false;
  /** End of the last flush, in milliseconds of the clock. */
  #flushedAt = -Infinity;
  #isStopped = false;
  /** Callers of `settled` that wait for the next end of a flush, and for the one after it. */
  #waiting: (() => void)[] = [];
  #waitingForNext: (() => void)[] = [];
  /** Callers of `flushed`. */
  #waitingForEnd: (() => void)[] = [];

  constructor(options: CatalogSchedulerOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Something has changed: plans a flush unless one is planned. During a flush
   * it does nothing: `hasChanges` is evaluated afterwards.
   */
  schedule(): void {
    if (this.#timer !== undefined || this.#isFlushing || this.#isStopped)
      return;
    const { clock, windowMs } = this.#options;
    const sinceLast = clock.now() - this.#flushedAt;
    this.#timer = clock.setTimeout(
      () => {
        this.#timer = undefined;
        this.#isFlushing = true;
        this.#flush();
      },
      Math.max(windowMs - sinceLast, Math.min(windowMs, GATHER_MS)),
    );
  }

  /**
   * Resolves when all changes known at the call have been published; immediately when there are
   * none.
   */
  settled(): Promise<void> {
    if (this.#isStopped || (this.#timer === undefined && !this.#isFlushing))
      return Promise.resolve();
    return new Promise((resolve) => {
      // A running flush may already have passed the last change.
      (this.#isFlushing ? this.#waitingForNext : this.#waiting).push(resolve);
    });
  }

  /**
   * Resolves at the end of the running flush, or of the next one when none is
   * running; immediately when none is planned.
   */
  flushed(): Promise<void> {
    if (this.#isStopped || (this.#timer === undefined && !this.#isFlushing))
      return Promise.resolve();
    return new Promise((resolve) => this.#waitingForEnd.push(resolve));
  }

  /** Runs steps in a lane of the slicer; they end early when the catalog stops. */
  run(lane: string, steps: Steps, priority?: Priority): Promise<void> {
    const untilStopped = this.#untilStopped(steps);
    return this.#options.runInSlices(lane, untilStopped, priority);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== undefined)
      this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#releaseWaiting();
    this.#releaseWaiting();
    for (const resolve of this.#waitingForEnd) resolve();
    this.#waitingForEnd = [];
  }

  #flush(): void {
    this.run(FLUSH_LANE, this.#flushSteps()).catch((error: unknown) => {
      this.#options.logger.error("views could not be updated", { error });
      this.#onFlushed();
    });
  }

  *#flushSteps(): Steps {
    yield* this.#options.flush();
    this.#onFlushed();
  }

  /** Changes since the flush get a flush of their own. */
  #onFlushed(): void {
    this.#isFlushing = false;
    this.#flushedAt = this.#options.clock.now();
    const { hasChanges, hasDeferred } = this.#options;
    const ended = this.#waitingForEnd;
    this.#waitingForEnd = [];
    if (hasDeferred()) {
      this.#waiting.push(...this.#waitingForNext);
      this.#waitingForNext = [];
      this.schedule();
    } else {
      const isChanged = hasChanges();
      this.#releaseWaiting();
      if (isChanged) this.schedule();
      else this.#releaseWaiting();
    }
    for (const resolve of ended) resolve();
  }

  #releaseWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = this.#waitingForNext;
    this.#waitingForNext = [];
    for (const resolve of waiting) resolve();
  }

  *#untilStopped(steps: Steps): Steps {
    while (!this.#isStopped && steps.next().done !== true) yield;
  }
}
