import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { JobRun, JobRunEnd, Store } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { Logger } from "../log/logger.js";
import type { RunOutcome } from "./run-outcome.js";

interface RunOutcomesOptions {
  readonly store: Pick<Store, "jobRuns">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
  /** The outcome of a run is in the database. */
  readonly onWritten: (id: string) => void;
}

interface LeasedEnd extends JobRunEnd {
  /** The lease under which the run was executed; undefined: there is only one server. */
  readonly lease: HeldLease | undefined;
}

/** Maximum number of outcomes waiting to be written. */
const MAX_UNWRITTEN = 1_000;
/** Interval of the attempts to write them, in ms. */
const RETRY_MS = 5_000;

/** Writes the outcomes of runs, with retries, and deletes the oldest runs. */
export class RunOutcomes {
  readonly #options: RunOutcomesOptions;
  readonly #unwritten = new Map<string, LeasedEnd>();
  #timer: unknown;

  constructor(options: RunOutcomesOptions) {
    this.#options = options;
  }

  async begin(
    id: string,
    taskId: string | undefined,
    lease: HeldLease | undefined,
  ): Promise<void> {
    const entry = taskId === undefined ? {} : { taskId };
    await this.#put(id, { status: "pending", ...entry, lease });
  }

  /** Never rejects. */
  async write(
    { id, jobId }: Pick<JobRun, "id" | "jobId">,
    { status, body }: RunOutcome,
    lease: HeldLease | undefined,
  ): Promise<void> {
    const end = { status, body, endedAt: this.#options.clock.now(), lease };
    if (!(await this.#put(id, end))) this.#keep(id, end);
    this.prune(jobId);
  }

  /** No more attempts: the next process marks the runs as interrupted. */
  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  #retryLater(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#timer = undefined;
      void this.#retry();
    }, RETRY_MS);
  }

  async #retry(): Promise<void> {
    for (const [id, end] of this.#unwritten)
      if (await this.#put(id, end)) this.#unwritten.delete(id);
    if (this.#unwritten.size > 0 && this.#timer === undefined)
      this.#retryLater();
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
  async #put(id: string, { lease, ...end }: LeasedEnd): Promise<boolean> {
    try {
      await this.#options.store.jobRuns.write(id, end, lease?.fence);
      if (end.status !== "pending") this.#options.onWritten(id);
      return true;
    } catch (error) {
      // Another server may have adopted the run.
      if (error instanceof XoError && error.code === "LEASE_LOST") return true;
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
          lease,
          body: { reason: error.message },
        });
      return false;
    }
  }

  #keep(id: string, end: LeasedEnd): void {
    this.#unwritten.set(id, end);
    if (this.#timer === undefined) this.#retryLater();
    if (this.#unwritten.size > MAX_UNWRITTEN)
      this.#unwritten.delete(this.#unwritten.keys().next().value!);
  }
}
