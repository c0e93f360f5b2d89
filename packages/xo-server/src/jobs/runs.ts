import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Job, JobRun, RunStart, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { Tasks } from "../tasks/tasks.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { CallBody } from "./job-body.js";
import type { RunChoice } from "./job-kind.js";
import type { JobRunner } from "./job-runner.js";
import type { RunOutcome } from "./run-outcome.js";
import { RunOutcomes } from "./run-ends.js";
import { withSignal } from "./with-signal.js";

export interface RunsOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns">;
  readonly runner: Pick<JobRunner, "run" | "isResumable">;
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

/** What the task of a run persists, for `resume`. */
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
    choice?: RunChoice,
  ): Promise<StartedRun | undefined> {
    if (this.#isStopping) throw new XoError("CLOSED", { what: "the server" });
    const { store, owner } = this.#options;
    const run = await store.jobRuns.begin({ ...start, owner });
    if (run === undefined) return undefined;
    if (run.status !== "pending") {
      this.#ends.prune(run.jobId);
      return { run };
    }
    return this.#start(run, work, { choice });
  }

  /**
   * Continues a run that the previous process of this server executed.
   * @param work the task that the run had
   * @throws XoError INTERRUPTED: it was given up meanwhile; the error of the run
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

  /** No more runs start; those in progress are marked as interrupted, unless they are resumed by the next process. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const { store, owner, logger } = this.#options;
    const resumable = [...this.#running]
      .filter(([, { isResumable }]) => isResumable)
      .map(([id]) => id);
    try {
      if (this.#running.size > 0)
        await store.jobRuns.interrupt({ owner }, resumable);
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
      await this.#start(run, undefined, {});
    }
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
    ended.catch(() => undefined);
    const isResumable =
      job !== undefined && this.#options.runner.isResumable(job);
    this.#running.set(run.id, { abort, ended, isResumable });
    const doIt = async (task: TaskContext) => {
      const work = withSignal(task, abort.signal);
      if (isResumable)
        await work.persistState({
          runId: run.id,
          ...(how.choice === undefined ? {} : { choice: how.choice }),
        } satisfies RunState);
      return this.#execute(run, job, { ...how, work });
    };
    if (input !== undefined) settle(doIt(input));
    else {
      const subject = toSubject(run, isResumable);
      const { result } = await this.#options.tasks.run(subject, doIt);
      settle(result);
    }
    return { run, ended };
  }

  async #execute(
    run: JobRun,
    job: Job | undefined,
    { work, ...how }: Execution & { readonly work: TaskContext },
  ): Promise<Ended> {
    const { clock, logger } = this.#options;
    const taskId = work.taskId;
    await this.#ends.begin(run.id, taskId);
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
