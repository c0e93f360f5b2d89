import { compileFilter, parseFilter } from "@xo-server/inventory";
import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type {
  Job,
  NewSchedule,
  Schedule,
  SchedulePatch,
  Store,
} from "@xo-server/store";
import type { JobPlan, JobRunner } from "./job-runner.js";
import type { RunChoice } from "./job-kind.js";
import type { Ended, RunState, StartedRun, Runs } from "./runs.js";
import { extractSecrets, type Secrets } from "./secrets.js";
import { createTimes } from "../schedules/times.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";

interface JobsOptions {
  readonly store: Pick<Store, "jobs" | "schedules" | "jobRuns">;
  readonly runs: Pick<Runs, "begin" | "cancel" | "resume">;
  readonly runner: Pick<JobRunner, "plan" | "check">;
  /** Whether an operation with this name exists. */
  readonly isOperation: (name: string) => boolean;
  /** Whether a user with this id exists. */
  readonly isUser: (id: string) => boolean;
  readonly clock: Pick<WallClock, "now">;
  /** Cancels a task, possibly of another server. */
  readonly abortTask: (taskId: string) => Promise<void>;
}

/** The members of a job. */
export interface JobParts {
  readonly name: string;
  readonly type: string;
  readonly userId?: string;
  readonly body: object;
}

interface JobStart {
  readonly jobId: string;
  readonly scheduleId?: string;
  readonly choice?: RunChoice;
}

/** Maximum number of jobs, and of schedules. */
const MAX_COUNT = 1_000;
/**
 * Methods that need a connection, return secrets, or would create jobs from
 * jobs.
 */
const FORBIDDEN_METHODS =
  /^(all|job|query|schedule(?!\.runSequence$)|session|status|token|totp)\./;

/** Jobs and schedules, for the operations of the API. */
export class Jobs {
  readonly #options: JobsOptions;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  *list(): IterableIterator<Job> {
    yield* this.#options.store.jobs.list();
  }

  /** @throws XoError NO_SUCH_OBJECT */
  get(id: string): Job {
    const job = this.#options.store.jobs.get(id);
    if (job !== undefined) return job;
    throw new XoError("NO_SUCH_OBJECT", { type: "job", id });
  }

  /** @throws XoError INVALID_PARAMETERS, UNKNOWN_METHOD, LIMIT_REACHED */
  async create({ body, ...job }: JobParts): Promise<Job> {
    const { jobs } = this.#options.store;
    checkLimit("jobs", jobs.size);
    this.#check(job, body);
    const taken = extractSecrets(body, {});
    return jobs.create({ ...job, body: taken.body, secret: taken.secrets });
  }

  /**
   * @param parts body: replaces the whole body
   * @throws XoError as `create`, and NO_SUCH_OBJECT
   */
  async set(id: string, { body, ...parts }: Partial<JobParts>): Promise<Job> {
    const { jobs } = this.#options.store;
    const old = this.get(id);
    this.#check({ ...old, ...parts }, body ?? (old.body as object));
    if (body === undefined) return jobs.update(id, parts);
    const known = (jobs.secret(id) ?? {}) as Secrets;
    const taken = extractSecrets(body, known);
    const patch = { ...parts, body: taken.body };
    return jobs.update(id, { ...patch, secret: taken.secrets });
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    await this.#options.store.jobs.delete(id);
  }

  /** Returns what a run would do now. */
  plan(id: string): Promise<JobPlan | object> {
    return this.#options.runner.plan(this.get(id));
  }

  /**
   * Starts a run unless one is in progress.
   * @param scheduleId the schedule to run for
   * @throws XoError NO_SUCH_OBJECT, INCORRECT_STATE
   */
  async begin(
    { jobId, scheduleId, choice }: JobStart,
    work?: TaskContext,
  ): Promise<Required<StartedRun>> {
    const { name, userId } = this.get(jobId);
    const begun = await this.#options.runs.begin(
      {
        jobId,
        jobName: name,
        ...(userId === undefined ? {} : { userId }),
        ...(scheduleId === undefined ? {} : { scheduleId }),
      },
      work,
      choice,
    );
    if (begun?.ended !== undefined)
      return { run: begun.run, ended: begun.ended };
    throw new XoError("INCORRECT_STATE", {
      object: jobId,
      property: "state",
      actual: "running",
      expected: "idle",
    });
  }

  /**
   * Continues a run after a restart of the server.
   * @throws XoError INTERRUPTED, and the error of the run
   */
  resume(
    state: RunState,
    work: TaskContext,
    interrupted: InterruptedTask,
  ): Promise<Ended> {
    return this.#options.runs.resume(state, work, interrupted);
  }

  /**
   * Runs jobs one after another until one fails or the task is aborted.
   * @throws XoError the error of the failed run
   */
  async runSequence(
    starts: readonly JobStart[],
    task: Pick<TaskContext, "signal" | "progress">,
  ): Promise<void> {
    const { signal } = task;
    for (const [i, start] of starts.entries()) {
      if (signal.aborted)
        throw new XoError("ABORTED", { what: "the sequence" });
      const { run, ended } = await this.begin(start);
      const cancel = () => {
        this.#options.runs.cancel(run.id);
      };
      signal.addEventListener("abort", cancel, { once: true });
      await ended.finally(() => {
        signal.removeEventListener("abort", cancel);
      });
      task.progress((i + 1) / starts.length);
    }
  }

  /**
   * The parameters of a manual run of a schedule.
   * @throws XoError NO_SUCH_OBJECT
   */
  startOf(scheduleId: string): JobStart {
    return { jobId: this.schedule(scheduleId).jobId, scheduleId };
  }

  /** @throws XoError NO_SUCH_OBJECT, FORBIDDEN_OPERATION: the run has ended */
  async cancel(runId: string): Promise<void> {
    const { store, runs, abortTask } = this.#options;
    if (runs.cancel(runId)) return;
    const run = await store.jobRuns.get(runId);
    if (run === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "run", id: runId });
    if (run.status === "queued") {
      await store.jobRuns.write(runId, {
        status: "aborted",
        endedAt: this.#options.clock.now(),
      });
      return;
    }
    if (run.status !== "pending" || run.taskId === undefined)
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: "cancel run",
        reason: `run ${runId} is not in progress`,
      });
    await abortTask(run.taskId);
  }

  /** Cancels all runs of a job that are in progress or queued. */
  async cancelOf(jobId: string): Promise<number> {
    this.get(jobId);
    const { jobRuns } = this.#options.store;
    const all = await Promise.all(
      (["pending", "queued"] as const).map((status) =>
        jobRuns.list({ jobId, status, limit: 10 }),
      ),
    );
    const runs = all.flatMap((page) => page.runs);
    for (const { id } of runs) await this.cancel(id);
    return runs.length;
  }

  *schedules(): IterableIterator<Schedule> {
    yield* this.#options.store.schedules.list();
  }

  /** @throws XoError NO_SUCH_OBJECT */
  schedule(id: string): Schedule {
    const schedule = this.#options.store.schedules.get(id);
    if (schedule !== undefined) return schedule;
    throw new XoError("NO_SUCH_OBJECT", { type: "schedule", id });
  }

  /**
   * @throws XoError INVALID_PARAMETERS, NO_SUCH_OBJECT (the job), LIMIT_REACHED
   */
  async createSchedule(input: NewSchedule): Promise<Schedule> {
    const { schedules } = this.#options.store;
    checkLimit("schedules", schedules.size);
    this.get(input.jobId);
    createTimes(input.cron, input.timezone);
    return schedules.create(input);
  }

  /** @throws XoError INVALID_PARAMETERS, NO_SUCH_OBJECT */
  async setSchedule(id: string, patch: SchedulePatch): Promise<Schedule> {
    const { cron, timezone, jobId } = { ...this.schedule(id), ...patch };
    if (jobId !== undefined) this.get(jobId);
    createTimes(cron ?? "", timezone);
    return this.#options.store.schedules.update(id, patch);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async deleteSchedule(id: string): Promise<void> {
    this.schedule(id);
    await this.#options.store.schedules.delete(id);
  }

  #check({ type, userId }: Pick<Job, "type" | "userId">, body: object): void {
    if (userId !== undefined && !this.#options.isUser(userId))
      throw new XoError("NO_SUCH_OBJECT", { type: "user", id: userId });
    const { method, timezone, filter }: Readonly<Record<string, unknown>> = {
      ...body,
    };
    if (typeof timezone === "string") createTimes("@daily", timezone);
    if (typeof filter === "string") compileFilter(parseFilter(filter));
    this.#options.runner.check(type, body);
    if (type !== "call") return;
    const name = String(method);
    if (!this.#options.isOperation(name))
      throw new XoError("UNKNOWN_METHOD", { method: name });
    if (FORBIDDEN_METHODS.test(name))
      throw new XoError("INVALID_PARAMETERS", {
        reason: `${name} cannot be called by a job`,
      });
  }
}

function checkLimit(what: string, size: number): void {
  if (size >= MAX_COUNT)
    throw new XoError("LIMIT_REACHED", { limit: MAX_COUNT, what });
}
