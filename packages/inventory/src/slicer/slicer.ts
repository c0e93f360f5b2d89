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

interface Job {
  readonly steps: Steps;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Cooperative scheduler of the main thread: one slice per turn of the event
 * loop for all jobs together. Jobs of a lane (a pool, the views) run one after
 * the other in order; lanes are served round-robin.
 */
export class Slicer {
  readonly #options: SlicerOptions;
  /** Lanes with jobs, in round-robin order. */
  readonly #lanes = new Map<string, Job[]>();
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
  run(lane: string, steps: Steps): Promise<void> {
    return new Promise((resolve, reject) => {
      const job = { steps, resolve, reject };
      const jobs = this.#lanes.get(lane);
      if (jobs === undefined) this.#lanes.set(lane, [job]);
      else jobs.push(job);
      this.#schedule();
    });
  }

  /** Resolves when no lane has jobs. */
  whenIdle(): Promise<void> {
    if (this.#lanes.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#lanes.size === 0) return;
    this.#isScheduled = true;
    this.#options.nextTurn(() => {
      this.#isScheduled = false;
      this.#options.runSection("inventory: apply", () => {
        this.#slice();
        this.#options.afterSlice();
      });
      this.#schedule();
      if (this.#lanes.size === 0) this.#releaseWaiting();
    });
  }

  #releaseWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #slice(): void {
    const { now, sliceMs } = this.#options;
    const deadline = now() + sliceMs;
    for (const [lane, jobs] of this.#lanes) {
      this.#lanes.delete(lane);
      // At least one step, even if the slice is already over: otherwise a job
      // might never advance.
      do {
        if (!this.#advance(jobs[0]!, deadline)) break;
        jobs.shift();
      } while (jobs.length > 0 && now() < deadline);
      // The lane moves to the end, with jobs that were added to it meanwhile.
      jobs.push(...(this.#lanes.get(lane) ?? []));
      this.#lanes.delete(lane);
      if (jobs.length > 0) this.#lanes.set(lane, jobs);
      if (now() >= deadline) return;
    }
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
