/**
 * Work in short steps of at most about 100 us; the slicer checks the time
 * between them.
 */
export type Steps = Generator<void, void, void>;

interface SlicerOptions {
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

/**
 * Priorities, the highest first. `normal`: what a client waits for, and changes that a
 * pool reports; `bulk`: listings of pools; `background`: writing snapshots, filling
 * columns in advance.
 */
const PRIORITIES = ["normal", "bulk", "background"] as const;

export type Priority = (typeof PRIORITIES)[number];

/**
 * While there is work of a higher priority, one of this number of slices begins with work
 * of this one, so that it advances in a server that is never idle, too.
 */
const ONE_SLICE_IN: Readonly<Record<Priority, number>> = {
  normal: 1,
  bulk: 2,
  background: 8,
};

interface Job {
  readonly steps: Steps;
  readonly priority: Priority;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Lanes with jobs, in round-robin order. */
type Lanes = Map<string, Job[]>;

/** Lanes of one priority. */
class Level {
  readonly priority: Priority;
  readonly lanes: Lanes = new Map();
  /** Slices since the last one that began with these lanes while there were others of a higher priority. */
  waited = 0;

  constructor(priority: Priority) {
    this.priority = priority;
  }
}

/**
 * Cooperative scheduler of the main thread: one slice per turn of the event
 * loop for all jobs together. Jobs of a lane (a pool, the views) run one after
 * the other in order; a lane has the highest priority of its jobs. Lanes of the
 * same priority are served round-robin; the others when there is time left in the
 * slice, or when it is their turn (ONE_SLICE_IN).
 */
export class Slicer {
  readonly #options: SlicerOptions;
  /** The highest priority first. */
  readonly #levels = PRIORITIES.map((priority) => new Level(priority));
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
    return this.#levels.every(({ lanes }) => lanes.size === 0);
  }

  #slice(): void {
    const { now, sliceMs } = this.#options;
    const deadline = now() + sliceMs;
    const first = this.#firstLevel();
    if (first === undefined || !this.#serve(first.lanes, deadline)) return;
    for (const level of this.#levels)
      if (level !== first && !this.#serve(level.lanes, deadline)) return;
  }

  /** The highest level with jobs, or one below whose turn it is. */
  #firstLevel(): Level | undefined {
    let first: Level | undefined;
    for (const level of this.#levels) {
      if (level.lanes.size === 0) continue;
      if (first !== undefined && ++level.waited < ONE_SLICE_IN[level.priority])
        continue;
      first = level;
    }
    if (first !== undefined) first.waited = 0;
    return first;
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

  /** Adds jobs at the end of a lane, which moves if they have a higher priority. */
  #enqueue(lane: string, added: readonly Job[]): void {
    const jobs = this.#levels[0]!.lanes.get(lane);
    if (jobs !== undefined) {
      jobs.push(...added);
      return;
    }
    const all = [...this.#take(lane), ...added];
    const level = this.#levels.find(({ priority }) =>
      all.some((job) => job.priority === priority),
    );
    level?.lanes.set(lane, all);
  }

  /** Removes a lane. @returns its jobs */
  #take(lane: string): readonly Job[] {
    for (const { lanes } of this.#levels) {
      const jobs = lanes.get(lane);
      if (jobs === undefined) continue;
      lanes.delete(lane);
      return jobs;
    }
    return [];
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
