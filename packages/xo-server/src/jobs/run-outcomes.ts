import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Fence, JobRun, JobRunEnd, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { RunOutcome } from "./run-outcome.js";

export interface RunOutcomesOptions {
  readonly store: Pick<Store, "jobRuns">;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Pick<Logger, "warn">;
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
  /** Called if an outcome is refused: another server may have adopted the run. */
  readonly onLeaseLost: (id: string) => void;
}

interface FencedEnd extends JobRunEnd {
  /** Fence of the lease under which the run was executed. */
  readonly fence: Fence | undefined;
}

/** Maximum number of outcomes waiting to be written. */
const MAX_UNWRITTEN = 1_000;

/** Writes the outcomes of runs, with retries, and deletes the oldest runs. */
export class RunOutcomes {
  readonly #options: RunOutcomesOptions;
  readonly #unwritten = new Map<string, FencedEnd>();

  constructor(options: RunOutcomesOptions) {
    this.#options = options;
  }

  async begin(
    id: string,
    taskId: string | undefined,
    fence?: Fence,
  ): Promise<void> {
    const entry = taskId === undefined ? {} : { taskId };
    await this.#put(id, { status: "pending", ...entry, fence });
  }

  /** Never rejects. */
  async write(
    { id, jobId }: Pick<JobRun, "id" | "jobId">,
    { status, body }: RunOutcome,
    fence?: Fence,
  ): Promise<void> {
    const end = { status, body, endedAt: this.#options.clock.now(), fence };
    if (!(await this.#put(id, end))) this.#keep(id, end);
    this.prune(jobId);
  }

  /** Writes outcomes that could not be written before. */
  async retry(): Promise<void> {
    for (const [id, end] of this.#unwritten)
      if (await this.#put(id, end)) this.#unwritten.delete(id);
  }

  /** Deletes runs beyond the limit. If that fails, the next call deletes them. */
  prune(jobId: string): void {
    const { store, keep, logger } = this.#options;
    const deleteOld = async () => {
      await store.jobRuns.prune(keep.ofJob, jobId);
      await store.jobRuns.prune(keep.ofAll);
    };
    deleteOld().catch((error: unknown) => {
      logger.warn("old job runs could not be deleted", { error });
    });
  }

  /** @returns false: the write must be tried again */
  async #put(id: string, { fence, ...end }: FencedEnd): Promise<boolean> {
    try {
      await this.#options.store.jobRuns.write(id, end, fence);
      return true;
    } catch (error) {
      if (error instanceof XoError && error.code === "LEASE_LOST") {
        this.#options.onLeaseLost(id);
        return true;
      }
      this.#options.logger.warn(
        `outcome of job run ${id} could not be written`,
        {
          error,
        },
      );
      // Too large for the database in any case: it is written without the calls.
      if (error instanceof XoError && error.code === "VALUE_TOO_LARGE")
        return this.#put(id, {
          ...end,
          fence,
          body: { reason: error.message },
        });
      return false;
    }
  }

  #keep(id: string, end: FencedEnd): void {
    this.#unwritten.set(id, end);
    if (this.#unwritten.size > MAX_UNWRITTEN)
      this.#unwritten.delete(this.#unwritten.keys().next().value!);
  }
}
