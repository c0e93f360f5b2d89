import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Fence, Job, JobRun, RunStart, Store } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { Logger } from "../log/logger.js";
import type { Tasks } from "../tasks/tasks.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";
import { failureReasons } from "./failure-reasons.js";
import type { CallBody } from "./job-body.js";
import type { RunChoice } from "./job-kind.js";
import type { JobRunner } from "./job-runner.js";
import type { RunOutcome } from "./run-outcome.js";
import { RunOutcomes } from "./run-outcomes.js";
import { withSignal } from "../tasks/with-signal.js";

interface RunsOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns">;
  readonly runner: Pick<JobRunner, "run" | "isResumable">;
  readonly tasks: Pick<Tasks, "run">;
  readonly owner: string;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Maximum number of stored runs per job, and in total. */
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
}

type JobRunRequest = Omit<RunStart, "owner"> & {
  /** Fence of the lease on all schedules. Absent: a user has requested the run. */
  readonly fence?: Fence | undefined;
};

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

/** What the task of a run persists for `resume`. */
export interface RunState {
  readonly runId: string;
  readonly choice?: RunChoice | undefined;
}

/** How a run is executed. */
interface Execution {
  readonly choice?: RunChoice | undefined;
  readonly interrupted?: InterruptedTask | undefined;
}

interface Running {
  readonly abort: AbortController;
  readonly ended: Promise<Ended>;
  readonly isResumable: boolean;
}

/** The runs that this server executes. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #outcomes: RunOutcomes;
  readonly #running = new Map<string, Running>();
  /** The leases under which runs are executed, until their outcomes are in the database. */
  readonly #leases = new Map<string, HeldLease>();
  #isStopping = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#outcomes = new RunOutcomes({
      ...options,
      onWritten: (id) => {
        this.#leases.delete(id);
      },
    });
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * @param work the task to run in; absent: a new task
   * @returns undefined: another server executes the run
   * @throws XoError NO_SUCH_OBJECT, STORE_UNAVAILABLE, CLOSED, LEASE_LOST
   */
  async begin(
    { fence, ...start }: JobRunRequest,
    work?: TaskContext,
    choice?: RunChoice,
  ): Promise<StartedRun | undefined> {
    if (this.#isStopping) throw new XoError("CLOSED", { what: "the server" });
    const { store, owner } = this.#options;
    const hasChoice = choice !== undefined;
    const run = await store.jobRuns.begin(
      { ...start, owner, hasChoice },
      fence,
    );
    if (run === undefined) return undefined;
    if (run.status !== "pending") {
      this.#outcomes.prune(run.jobId);
      return { run };
    }
    return this.#start(run, work, { choice });
  }

  /**
   * Continues a run that the previous process of this server executed.
   * @param work the task of the run
   * @throws XoError INTERRUPTED: the run was abandoned in the meantime; the error
   * of the run
   */
  async resume(
    { runId, choice }: RunState,
    work: TaskContext,
    interrupted: InterruptedTask,
  ): Promise<Ended> {
    const run = await this.#options.store.jobRuns.get(runId);
    if (run?.status !== "pending")
      throw new XoError("INTERRUPTED", {
        reason: `run ${runId} has ended: ${run?.status ?? "deleted"}`,
      });
    const started = await this.#start(run, work, { choice, interrupted });
    return started.ended;
  }

  /** @returns false: the run is not executed by this server */
  cancel(runId: string): boolean {
    const running = this.#running.get(runId);
    running?.abort.abort(new XoError("ABORTED", { what: "the run" }));
    return running !== undefined;
  }

  /** Starts queued runs. @param fence of the lease on all schedules */
  async beginQueued(fence?: Fence): Promise<void> {
    const { store, owner } = this.#options;
    while (!this.#isStopping) {
      const run = await store.jobRuns.beginQueued(owner, fence);
      if (run === undefined) return;
      await this.#start(run, undefined, {});
    }
  }

  /**
   * Runs of a process that has ended, except those that are resumed: queues those again that have not done
   * anything, and marks the others as interrupted. Never rejects.
   */
  async abandon(
    gone: Parameters<Store["jobRuns"]["interrupt"]>[0],
    resumed: readonly string[],
  ): Promise<void> {
    const { store, runner, logger } = this.#options;
    const repeatable = [...store.jobs.list()]
      .filter((job) => runner.isResumable(job))
      .map(({ id }) => id);
    try {
      const except = [...resumed, ...this.#running.keys()];
      await store.jobRuns.requeue(gone, repeatable, except);
    } catch (error) {
      logger.warn("job runs could not be queued again", { error });
    }
    await this.interrupt(gone, resumed);
  }

  /**
   * Marks runs of a process that has ended as interrupted, except those that are resumed. Never rejects.
   * @returns false: they could not be marked
   */
  async interrupt(
    gone: Parameters<Store["jobRuns"]["interrupt"]>[0],
    resumed: readonly string[],
  ): Promise<boolean> {
    const { store, logger } = this.#options;
    try {
      await store.jobRuns.interrupt(gone, resumed);
      return true;
    } catch (error) {
      logger.warn("job runs could not be marked as interrupted", { error });
      return false;
    }
  }

  /**
   * Marks runs as interrupted whose outcomes could not be written before this server lost its lease, and
   * that no other server has adopted, except those that are resumed. Never rejects.
   */
  async interruptDropped(resumed: readonly string[]): Promise<void> {
    for (const id of resumed) this.#leases.delete(id);
    const ids = [...this.#leases]
      .filter(([, lease]) => lease.isLost)
      .map(([id]) => id);
    if (ids.length === 0) return;
    if (await this.interrupt({ owner: this.#options.owner, ids }, resumed))
      for (const id of ids) this.#leases.delete(id);
  }

  /**
   * Starts no more runs. Those in progress are marked as interrupted, unless the
   * next process resumes them.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#outcomes.stop();
    const resumable = [...this.#running]
      .filter(([, { isResumable }]) => isResumable)
      .map(([id]) => id);
    const { owner } = this.#options;
    if (this.#running.size > 0) await this.interrupt({ owner }, resumable);
  }

  async #start(
    run: JobRun,
    input: TaskContext | undefined,
    how: Execution,
  ): Promise<Required<StartedRun>> {
    const job = this.#options.store.jobs.get(run.jobId);
    const abort = new AbortController();
    // Registered before the first await, so that the run can be found and
    // cancelled.
    let settle: (ended: Promise<Ended>) => void = () => undefined;
    const ended = new Promise<Ended>((resolve) => (settle = resolve));
    // The caller of the run reports errors; this promise only marks its end.
    ended.catch(() => undefined);
    const isResumable =
      job !== undefined && this.#options.runner.isResumable(job);
    this.#running.set(run.id, { abort, ended, isResumable });
    const doIt = async (task: TaskContext) => {
      if (task.lease !== undefined) this.#leases.set(run.id, task.lease);
      const work = withSignal(task, abort.signal);
      if (isResumable)
        await work.persistState({
          runId: run.id,
          ...(how.choice === undefined ? {} : { choice: how.choice }),
        } satisfies RunState);
      else work.declineResume();
      return this.#execute(run, job, { ...how, work });
    };
    if (input !== undefined) settle(doIt(input));
    else {
      const subject = toSubject(run, isResumable);
      const { result } = await this.#options.tasks.run(subject, doIt);
      settle(result);
    }
    // Another server may adopt the run and continue it.
    ended.catch((error: unknown) => {
      if (isTakenOver(error)) this.#running.delete(run.id);
    });
    return { run, ended };
  }

  async #execute(
    run: JobRun,
    job: Job | undefined,
    { work, ...how }: Execution & { readonly work: TaskContext },
  ): Promise<Ended> {
    const { clock, logger } = this.#options;
    const taskId = work.taskId;
    await this.#outcomes.begin(run.id, taskId, work.lease);
    const timer = this.#limit(run, job);
    try {
      const outcome =
        job === undefined
          ? jobDeleted
          : await this.#options.runner.run({
              ...how,
              job,
              runId: run.id,
              scheduleId: run.scheduleId,
              work,
            });
      await this.#outcomes.write(run, outcome, work.lease);
      logger.info(`job ${run.jobName} finished: ${outcome.status}`, {
        run: run.id,
      });
      return toEnded(run, outcome, job?.type);
    } finally {
      clock.clearTimeout(timer);
      this.#running.delete(run.id);
      if (!this.#isStopping)
        void this.beginQueued().catch((error: unknown) => {
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

function isTakenOver(error: unknown): boolean {
  return (
    error instanceof XoError &&
    (error.code === "LEASE_LOST" || error.code === "TASK_TAKEN_OVER")
  );
}

/** The operation whose `resume` continues a run. */
const RESUMING = "job.runNow";

function toSubject(run: JobRun, isResumable: boolean) {
  return {
    ...(isResumable ? { operation: RESUMING } : {}),
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
function toEnded(
  run: JobRun,
  { status, body }: RunOutcome,
  jobType: string | undefined,
): Ended {
  const { failed = 0, succeeded = 0, error } = body;
  // The page links to the log of the run.
  const ids = { run: run.id, jobName: run.jobName || run.jobId, jobType };
  // A job may have no name.
  const what = `job ${run.jobName || run.jobId}`;
  if (status === "success") return { runId: run.id, status };
  if (status === "aborted") throw new XoError("ABORTED", { ...ids, what });
  if (status === "interrupted")
    throw new XoError("INTERRUPTED", {
      ...ids,
      reason: `${what} was interrupted and is not resumed`,
    });
  if (error !== undefined || failed === 0)
    throw new XoError("STOPPED_MIDWAY", {
      ...ids,
      what,
      where: "its start",
      reason: messageOf(error) ?? body.reason ?? "unknown",
    });
  const total = failed + succeeded;
  const reasons = failureReasons(body) || `see the log of run ${run.id}`;
  throw new XoError("SOME_FAILED", { ...ids, what, failed, total, reasons });
}

function messageOf(error: object | undefined): string | undefined {
  const { message }: { message?: unknown } = error ?? {};
  return typeof message === "string" ? message : undefined;
}
