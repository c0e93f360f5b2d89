import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Job, JobRun, RunStart, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { Tasks } from "../tasks/tasks.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { CallBody } from "./job-body.js";
import type { JobRunner, RunOutcome } from "./job-runner.js";
import { RunOutcomes } from "./run-ends.js";
import { withSignal } from "./with-signal.js";

export interface RunsOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns">;
  readonly runner: Pick<JobRunner, "run">;
  readonly tasks: Pick<Tasks, "run">;
  readonly owner: string;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Maximum number of stored runs per job, and in total. */
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
}

/** A run that was created. */
export interface StartedRun {
  readonly run: JobRun;
  /**
   * Rejects unless the run succeeded. Absent for runs that are not executed
   * (`skipped`, `queued`).
   */
  readonly ended?: Promise<Ended>;
}

export interface Ended {
  readonly runId: string;
  readonly status: JobRun["status"];
}

interface Running {
  readonly abort: AbortController;
  readonly ended: Promise<Ended>;
}

/**
 * Runs whose server did not renew them for this time are marked as interrupted,
 * in ms.
 */
const LEASE_TIMEOUT_MS = 150_000;

/** The runs that this server executes. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #ends: RunOutcomes;
  readonly #running = new Map<string, Running>();
  #isStopping = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#ends = new RunOutcomes(options);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * @param work the task to run in; absent: a new task
   * @returns undefined: another server executes the run
   * @throws XoError NO_SUCH_OBJECT, STORE_UNAVAILABLE, CLOSED
   */
  async begin(
    start: Omit<RunStart, "owner">,
    work?: TaskContext,
  ): Promise<StartedRun | undefined> {
    if (this.#isStopping) throw new XoError("CLOSED", { what: "the server" });
    const { store, owner } = this.#options;
    const run = await store.jobRuns.begin({ ...start, owner });
    if (run === undefined) return undefined;
    if (run.status !== "pending") {
      this.#ends.prune(run.jobId);
      return { run };
    }
    return this.#start(run, work);
  }

  /** @returns false: the run is not executed by this server */
  cancel(runId: string): boolean {
    const running = this.#running.get(runId);
    running?.abort.abort(new XoError("ABORTED", { what: "the run" }));
    return running !== undefined;
  }

  /**
   * Renews the lease of this server's runs, marks runs of crashed servers, and
   * starts queued runs.
   */
  async maintain(): Promise<void> {
    const { store, clock, logger } = this.#options;
    const mine = [...this.#running.keys()];
    const seen = await store.jobRuns.renew(mine);
    for (const id of mine)
      if (!seen.has(id) && this.#running.has(id) && !this.#ends.has(id)) {
        logger.warn(
          `job run ${id} was marked as interrupted by another server: cancelled here`,
        );
        this.cancel(id);
      }
    const since = { notSeenSince: clock.now() - LEASE_TIMEOUT_MS };
    await store.jobRuns.interrupt(since, mine);
    await this.#ends.retry();
    await this.#beginQueued();
  }

  /** No more runs start; those in progress are marked as interrupted. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const { store, owner, logger } = this.#options;
    try {
      if (this.#running.size > 0) await store.jobRuns.interrupt({ owner });
    } catch (error) {
      logger.warn("job runs in progress could not be marked as interrupted", {
        error,
      });
    }
  }

  async #beginQueued(): Promise<void> {
    const { store, owner } = this.#options;
    while (!this.#isStopping) {
      const run = await store.jobRuns.beginQueued(owner);
      if (run === undefined) return;
      await this.#start(run, undefined);
    }
  }

  async #start(
    run: JobRun,
    input: TaskContext | undefined,
  ): Promise<StartedRun> {
    const job = this.#options.store.jobs.get(run.jobId);
    const abort = new AbortController();
    // Registered before the first await, so that the run can be found and
    // cancelled.
    let settle: (ended: Promise<Ended>) => void = () => undefined;
    const ended = new Promise<Ended>((resolve) => (settle = resolve));
    ended.catch(() => undefined);
    this.#running.set(run.id, { abort, ended });
    const doIt = (work: TaskContext) =>
      this.#execute(run, job, withSignal(work, abort.signal));
    if (input !== undefined) settle(doIt(input));
    else {
      const { result } = await this.#options.tasks.run(toSubject(run), doIt);
      settle(result);
    }
    return { run, ended };
  }

  async #execute(
    run: JobRun,
    job: Job | undefined,
    work: TaskContext,
  ): Promise<Ended> {
    const { clock, logger } = this.#options;
    const taskId = work.taskId;
    await this.#ends.begin(run.id, taskId);
    const timer = this.#limit(run, job);
    try {
      const outcome =
        job === undefined
          ? jobDeleted
          : await this.#options.runner.run(job, run.scheduleId, work);
      await this.#ends.write(run, outcome);
      logger.info(`job ${run.jobName} finished: ${outcome.status}`, {
        run: run.id,
      });
      return toEnded(run, outcome);
    } finally {
      clock.clearTimeout(timer);
      this.#running.delete(run.id);
      if (!this.#isStopping)
        void this.#beginQueued().catch((error: unknown) => {
          logger.warn("queued job runs could not be started", { error });
        });
    }
  }

  #limit({ id }: JobRun, job: Job | undefined): unknown {
    const { runTimeout } = (job?.body ?? {}) as Partial<CallBody>;
    if (runTimeout === undefined) return undefined;
    return this.#options.clock.setTimeout(() => {
      this.cancel(id);
    }, runTimeout);
  }
}

const jobDeleted: RunOutcome = {
  status: "failure",
  body: { reason: "the job was deleted" },
};

function toSubject(run: JobRun) {
  return {
    name: `job: ${run.jobName}`,
    objectType: "job",
    objectId: run.jobId,
    userId: run.userId,
    params: {
      run: run.id,
      ...(run.scheduleId === undefined ? {} : { schedule: run.scheduleId }),
    },
  };
}

/**
 * The task of a run that did not succeed must fail too.
 * @throws XoError unless the run succeeded
 */
function toEnded(run: JobRun, { status, body }: RunOutcome): Ended {
  const { failed = 0, succeeded = 0, error } = body;
  const what = `job ${run.jobName}`;
  if (status === "success") return { runId: run.id, status };
  if (status === "aborted") throw new XoError("ABORTED", { what });
  if (status === "interrupted")
    throw new XoError("INTERRUPTED", {
      reason: `${what} was interrupted and is not resumed`,
    });
  if (error !== undefined || failed === 0)
    throw new XoError("STOPPED_MIDWAY", {
      what,
      where: "before its first call",
      reason: messageOf(error) ?? body.reason ?? "unknown",
    });
  const total = failed + succeeded;
  const reasons = `see the calls of run ${run.id}`;
  throw new XoError("SOME_FAILED", { what, failed, total, reasons });
}

function messageOf(error: object | undefined): string | undefined {
  const { message }: { message?: unknown } = error ?? {};
  return typeof message === "string" ? message : undefined;
}
