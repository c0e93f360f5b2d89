import { XoError } from "@xo-server/model";
import type { JobRun, JobRunEnd, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import type { Outcome } from "./job-runner.js";

export interface RunEndsOptions {
  readonly store: Pick<Store, "jobRuns">;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Pick<Logger, "warn">;
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
}

/** Ends that could not be written down, at most. */
const MOST_UNWRITTEN = 1_000;

/** Writes down how runs end, again if need be, and forgets the oldest. */
export class RunEnds {
  readonly #options: RunEndsOptions;
  readonly #unwritten = new Map<string, JobRunEnd>();

  constructor(options: RunEndsOptions) {
    this.#options = options;
  }

  /** It has ended, and that is not written down yet. */
  has(id: string): boolean {
    return this.#unwritten.has(id);
  }

  async begin(id: string, taskId: string | undefined): Promise<void> {
    const told = taskId === undefined ? {} : { taskId };
    await this.#put(id, { status: "pending", ...told });
  }

  /** Never rejects. */
  async write(
    { id, jobId }: Pick<JobRun, "id" | "jobId">,
    { status, body }: Outcome,
  ): Promise<void> {
    const end = { status, body, endedAt: this.#options.clock.now() };
    if (!(await this.#put(id, end))) this.#keep(id, end);
    this.prune(jobId);
  }

  /** What could not be written down before. */
  async retry(): Promise<void> {
    for (const [id, end] of this.#unwritten)
      if (await this.#put(id, end)) this.#unwritten.delete(id);
  }

  /** Only so many are remembered. What cannot be forgotten now is so with the next. */
  prune(jobId: string): void {
    const { store, keep, logger } = this.#options;
    const forget = async () => {
      await store.jobRuns.prune(keep.ofJob, jobId);
      await store.jobRuns.prune(keep.ofAll);
    };
    forget().catch((error: unknown) => {
      logger.warn("old runs of jobs stay", { error });
    });
  }

  async #put(id: string, end: JobRunEnd): Promise<boolean> {
    try {
      await this.#options.store.jobRuns.write(id, end);
      return true;
    } catch (error) {
      this.#options.logger.warn(`run ${id} of a job is not written down`, {
        error,
      });
      // It never will be: better without what was called than not at all.
      if (error instanceof XoError && error.code === "VALUE_TOO_LARGE")
        return this.#put(id, { ...end, body: { reason: error.message } });
      return false;
    }
  }

  #keep(id: string, end: JobRunEnd): void {
    this.#unwritten.set(id, end);
    if (this.#unwritten.size > MOST_UNWRITTEN)
      this.#unwritten.delete(this.#unwritten.keys().next().value!);
  }
}
