/** Work in short steps, ~100 us at most each: the slicer looks at the clock between them. */
export type Steps = Generator<void, void, void>;

export interface SlicerOptions {
  /** How long the loop is held in one turn. */
  readonly sliceMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Calls back in a later turn, after the loop has served others. */
  readonly nextTurn: (callback: () => void) => void;
  /** Runs each slice under a name, for the block detector. */
  readonly running: Running;
  /** At the end of each slice, within it. */
  readonly afterSlice: () => void;
}

export type Running = (label: string, section: () => void) => void;

interface Job {
  readonly steps: Steps;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Shares the main thread: one slice a turn for all who have work, however many
 * they are. Jobs of a lane (a pool) run in their order; lanes take turns.
 */
export class Slicer {
  readonly #options: SlicerOptions;
  /** In the order of their turns; a lane without jobs is not here. */
  readonly #lanes = new Map<string, Job[]>();
  #isScheduled = false;

  constructor(options: SlicerOptions) {
    this.#options = options;
  }

  /** Resolves when the last step is done. */
  run(lane: string, steps: Steps): Promise<void> {
    return new Promise((resolve, reject) => {
      const job = { steps, resolve, reject };
      const jobs = this.#lanes.get(lane);
      if (jobs === undefined) this.#lanes.set(lane, [job]);
      else jobs.push(job);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#lanes.size === 0) return;
    this.#isScheduled = true;
    this.#options.nextTurn(() => {
      this.#isScheduled = false;
      this.#options.running("inventory: apply", () => {
        this.#slice();
        this.#options.afterSlice();
      });
      this.#schedule();
    });
  }

  #slice(): void {
    const { now, sliceMs } = this.#options;
    const deadline = now() + sliceMs;
    for (const [lane, jobs] of this.#lanes) {
      this.#lanes.delete(lane);
      // One step at least, however short a slice is: else nothing would ever be done.
      do {
        if (!this.#advance(jobs[0]!, deadline)) break;
        jobs.shift();
      } while (jobs.length > 0 && now() < deadline);
      // To the end of the queue, with what a job has asked for in its own lane meanwhile.
      jobs.push(...(this.#lanes.get(lane) ?? []));
      this.#lanes.delete(lane);
      if (jobs.length > 0) this.#lanes.set(lane, jobs);
      if (now() >= deadline) return;
    }
  }

  /** True when the job has ended, well or badly. */
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
