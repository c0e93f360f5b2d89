/**
 * Work in short steps of at most about 100 us; the slicer checks the time
 * between them.
 */
export type Steps = Generator<void, void, void>;

export interface SlicerOptions {
  /**
   * Length of a slice in milliseconds: how long the event loop is blocked per
   * turn.
   */
  readonly sliceMs: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Calls back in a later turn of the event loop, after pending I/O. */
  readonly nextTurn: (callback: () => void) => void;
  /** Runs each slice as a named section, for the block detector. */
  readonly runSection: SectionRunner;
  /** Called at the end of each slice, as part of it. */
  readonly afterSlice: () => void;
}

/** Runs a function as a named section (see LoopMonitor.runSection of packages/perf). */
export type SectionRunner = (label: string, section: () => void) => void;

/** Background work (writing snapshots, filling columns in advance) waits while there is other work. */
export type Priority = "normal" | "background";

/**
 * While there is other work, one of this many slices is for background work, so
 * that it advances in a server that is never idle, too.
 */
const BACKGROUND_TURNS = 8;

interface Job {
  readonly steps: Steps;
  readonly priority: Priority;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Lanes with jobs, in round-robin order. */
type Lanes = Map<string, Job[]>;

/**
 * Cooperative scheduler of the main thread: one slice per turn of the event
 * loop for all jobs together. Jobs of a lane (a pool, the views) run one after
 * the other in order; lanes are served round-robin, those that have only
 * background jobs when there are no others.
 */
export class Slicer {
  readonly #options: SlicerOptions;
  /** Lanes with a job that is not in the background. */
  readonly #normal: Lanes = new Map();
  /** Lanes with background jobs only. */
  readonly #background: Lanes = new Map();
  /** Slices that began with both kinds of lanes. */
  #contendedSlices = 0;
  #isScheduled = false;
  /** Callers of `whenIdle`. */
  #waiting: (() => void)[] = [];

  constructor(options: SlicerOptions) {
    this.#options = options;
  }

  /**
   * Adds a job to a lane. Resolves after its last step, rejects with what a
   * step throws.
   */
  run(
    lane: string,
    steps: Steps,
    priority: Priority = "normal",
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const job = { steps, priority, resolve, reject };
      this.#enqueue(lane, [job]);
      this.#schedule();
    });
  }

  /** Resolves when no lane has jobs. */
  whenIdle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isIdle) return;
    this.#isScheduled = true;
    this.#options.nextTurn(() => {
      this.#isScheduled = false;
      this.#options.runSection("inventory: apply", () => {
        this.#slice();
        this.#options.afterSlice();
      });
      this.#schedule();
      if (this.#isIdle) this.#releaseWaiting();
    });
  }

  #releaseWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  get #isIdle(): boolean {
    return this.#normal.size === 0 && this.#background.size === 0;
  }

  #slice(): void {
    const { now, sliceMs } = this.#options;
    const deadline = now() + sliceMs;
    const [first, second] = this.#isTurnOfBackground()
      ? [this.#background, this.#normal]
      : [this.#normal, this.#background];
    if (this.#serve(first, deadline)) this.#serve(second, deadline);
  }

  #isTurnOfBackground(): boolean {
    if (this.#normal.size === 0 || this.#background.size === 0) return false;
    return ++this.#contendedSlices % BACKGROUND_TURNS === 0;
  }

  /** Runs jobs of these lanes. @returns whether there is time left in the slice */
  #serve(lanes: Lanes, deadline: number): boolean {
    const { now } = this.#options;
    for (const [lane, jobs] of lanes) {
      lanes.delete(lane);
      // At least one step, even if the slice is already over: otherwise a job
      // might never advance.
      do {
        if (!this.#advance(jobs[0]!, deadline)) break;
        jobs.shift();
      } while (jobs.length > 0 && now() < deadline);
      // The lane moves to the end, with jobs that were added to it meanwhile.
      const added = this.#take(lane);
      if (jobs.length > 0 || added.length > 0)
        this.#enqueue(lane, [...jobs, ...added]);
      if (now() >= deadline) return false;
    }
    return true;
  }

  /** Adds jobs at the end of a lane, which moves if it is no longer in the background. */
  #enqueue(lane: string, added: readonly Job[]): void {
    const jobs = this.#normal.get(lane);
    if (jobs !== undefined) {
      jobs.push(...added);
      return;
    }
    const all = [...this.#take(lane), ...added];
    const isBackground = all.every(({ priority }) => priority === "background");
    (isBackground ? this.#background : this.#normal).set(lane, all);
  }

  #take(lane: string): readonly Job[] {
    const jobs = this.#normal.get(lane) ?? this.#background.get(lane) ?? [];
    this.#normal.delete(lane);
    this.#background.delete(lane);
    return jobs;
  }

  /**
   * Runs steps of a job until the deadline. @returns true when it has ended,
   * successfully or not
   */
  #advance(job: Job, deadline: number): boolean {
    try {
      do {
        if (job.steps.next().done === true) {
          job.resolve();
          return true;
        }
      } while (this.#options.now() < deadline);
      return false;
    } catch (error) {
      job.reject(error);
      return true;
    }
  }
}
