import { XoError } from "@xo-server/model";
import type { Job, JobRun, RunStart, Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import type { Tasks } from "../tasks/tasks.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { CallBody } from "./job-body.js";
import type { JobRunner, Outcome } from "./job-runner.js";
import { RunEnds } from "./run-ends.js";
import { withSignal } from "./with-signal.js";

export interface RunsOptions {
  readonly store: Pick<Store, "jobs" | "jobRuns">;
  readonly runner: Pick<JobRunner, "run">;
  readonly tasks: Pick<Tasks, "run">;
  readonly owner: string;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Runs of one job, and of all, that are remembered. */
  readonly keep: { readonly ofJob: number; readonly ofAll: number };
}

/** What has begun. */
export interface Begun {
  readonly run: JobRun;
  /** Rejects unless all went well. Absent: nothing is done (`skipped`, `queued`). */
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

/** A server of which nothing was seen for so long is gone, in ms: its runs are interrupted. */
const GONE_MS = 150_000;

/** The runs that this server does. */
export class Runs {
  readonly #options: RunsOptions;
  readonly #ends: RunEnds;
  readonly #running = new Map<string, Running>();
  #isStopping = false;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#ends = new RunEnds(options);
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /**
   * @param work what it is done as; absent: a task of its own
   * @returns undefined: another server does it
   * @throws XoError NO_SUCH_OBJECT, STORE_UNAVAILABLE, CLOSED
   */
  async begin(
    start: Omit<RunStart, "owner">,
    work?: TaskContext,
  ): Promise<Begun | undefined> {
    if (this.#isStopping) throw new XoError("CLOSED", { what: "the server" });
    const { store, owner } = this.#options;
    const run = await store.jobRuns.begin({ ...start, owner });
    if (run === undefined) return undefined;
    if (run.status !== "pending") {
      this.#ends.prune(run.jobId);
      return { run };
    }
    return this.#go(run, work);
  }

  /** @returns false: it is not done here */
  cancel(runId: string): boolean {
    const running = this.#running.get(runId);
    running?.abort.abort(new XoError("ABORTED", { what: "the run" }));
    return running !== undefined;
  }

  /** Says that this server is at its runs, and sees to what others have left. */
  async tend(): Promise<void> {
    const { store, clock, logger } = this.#options;
    const mine = [...this.#running.keys()];
    const seen = await store.jobRuns.renew(mine);
    for (const id of mine)
      if (!seen.has(id) && this.#running.has(id) && !this.#ends.has(id)) {
        logger.warn(`run ${id} of a job was taken for dead`);
        this.cancel(id);
      }
    const since = { notSeenSince: clock.now() - GONE_MS };
    await store.jobRuns.interrupt(since, mine);
    await this.#ends.retry();
    await this.#beginQueued();
  }

  /** Nothing more is begun; what is under way is called interrupted. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const { store, owner, logger } = this.#options;
    try {
      if (this.#running.size > 0) await store.jobRuns.interrupt({ owner });
    } catch (error) {
      logger.warn("runs of jobs are left as they are", { error });
    }
  }

  async #beginQueued(): Promise<void> {
    const { store, owner } = this.#options;
    while (!this.#isStopping) {
      const run = await store.jobRuns.beginQueued(owner);
      if (run === undefined) return;
      await this.#go(run, undefined);
    }
  }

  async #go(run: JobRun, given: TaskContext | undefined): Promise<Begun> {
    const job = this.#options.store.jobs.get(run.jobId);
    const abort = new AbortController();
    // Before the first await: whoever looks finds it.
    let settle: (ended: Promise<Ended>) => void = () => undefined;
    const ended = new Promise<Ended>((resolve) => (settle = resolve));
    ended.catch(() => undefined);
    this.#running.set(run.id, { abort, ended });
    const doIt = (work: TaskContext) =>
      this.#do(run, job, withSignal(work, abort.signal));
    if (given !== undefined) settle(doIt(given));
    else {
      const { result } = await this.#options.tasks.run(toSubject(run), doIt);
      settle(result);
    }
    return { run, ended };
  }

  async #do(
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
          ? gone
          : await this.#options.runner.run(job, run.scheduleId, work);
      await this.#ends.write(run, outcome);
      logger.info(`job ${run.jobName}: ${outcome.status}`, { run: run.id });
      return verdict(run, outcome);
    } finally {
      clock.clearTimeout(timer);
      this.#running.delete(run.id);
      if (!this.#isStopping)
        void this.#beginQueued().catch((error: unknown) => {
          logger.warn("runs of jobs that wait go on waiting", { error });
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

const gone: Outcome = {
  status: "failure",
  body: { reason: "the job is gone" },
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

/** @throws XoError unless all went well: a task that hides failures is worse than none */
function verdict(run: JobRun, { status, body }: Outcome): Ended {
  const { failed = 0, succeeded = 0, error } = body;
  const what = `job ${run.jobName}`;
  if (status === "success") return { runId: run.id, status };
  if (status === "aborted") throw new XoError("ABORTED", { what });
  if (status === "interrupted")
    throw new XoError("INTERRUPTED", { reason: `${what} does not go on` });
  if (error !== undefined || failed === 0)
    throw new XoError("STOPPED_MIDWAY", {
      what,
      where: "its beginning",
      reason: messageOf(error) ?? body.reason ?? "unknown",
    });
  const total = failed + succeeded;
  throw new XoError("SOME_FAILED", { what, failed, total });
}

function messageOf(error: object | undefined): string | undefined {
  const { message }: { message?: unknown } = error ?? {};
  return typeof message === "string" ? message : undefined;
}
