import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Job, JobRunStatus, Store } from "@xo-server/store";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import { toFailure } from "../tasks/task-view.js";
import type { TaskContext } from "../tasks/task-context.js";
import { CallLog, toShown } from "./call-log.js";
import { RunCaller } from "./caller.js";
import { fetchObjects } from "./fetch-objects.js";
import { inParallel } from "./in-parallel.js";
import type { CallBody, SnapshotBody } from "./job-body.js";
import type { JobKind, JobKinds, KindRun } from "./job-kind.js";
import type { RunOutcome } from "./run-outcome.js";
import { resolveVector, type Params } from "./params-vector.js";
import { insertSecrets, type Secrets } from "./secrets.js";
import { SnapshotPolicy, type PlannedSnapshot } from "./snapshot-policy.js";

interface JobRunnerOptions {
  readonly store: Pick<Store, "jobs" | "schedules">;
  readonly call: Dispatcher["call"];
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly clock: WallClock;
  readonly isStopping: () => boolean;
  /** Job types other than calls and snapshots. */
  readonly kinds: JobKinds;
}

/** What a run would do. */
export interface JobPlan {
  readonly total: number;
  readonly calls?: readonly {
    readonly method: string;
    readonly params: object;
  }[];
  readonly snapshots?: readonly PlannedSnapshot[];
}

const DEFAULT_CONCURRENCY = 2;
/** Maximum number of calls listed in a plan. */
const MAX_PLANNED_CALLS = 100;

/** Executes runs of jobs. */
export class JobRunner {
  readonly #options: JobRunnerOptions;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  /** Whether runs of this job continue after a restart of the server. */
  isResumable(job: Pick<Job, "type">): boolean {
    return this.#options.kinds.has(job.type);
  }

  /** @throws XoError INVALID_PARAMETERS, NO_SUCH_OBJECT */
  check(type: string, body: object): void {
    this.#options.kinds.get(type)?.check(body);
  }

  /** Never rejects: errors are part of the outcome. */
  async run(run: KindRun): Promise<RunOutcome> {
    const { job, choice } = run;
    const kind = this.#options.kinds.get(job.type);
    if (kind === undefined) return this.#runCalls(run);
    const { body = job.body } = choice ?? {};
    return kind.run({ ...run, job: { ...job, body } });
  }

  async #runCalls({ job, scheduleId, work }: KindRun): Promise<RunOutcome> {
    const log = new CallLog();
    const caller = new RunCaller({
      ...this.#options,
      job,
      work,
      log,
      timeout: bodyOf(job).timeout,
    });
    try {
      const notBegun =
        job.type === "snapshot"
          ? await this.#policyOf(job, scheduleId).run(caller)
          : await this.#callAll(job, caller);
      const left = notBegun === 0 ? {} : { notBegun };
      const status = this.#statusOf(log, notBegun, work);
      return { status, body: { ...log.toBody(), ...left } };
    } catch (error) {
      const status = work.signal.aborted ? "aborted" : "failure";
      const body = { ...log.toBody(), error: toFailure(error as Error) };
      return { status, body };
    }
  }

  /** @throws XoError errors that a run would have before its first call */
  async plan(job: Job): Promise<JobPlan | object> {
    const kind: JobKind | undefined = this.#options.kinds.get(job.type);
    if (kind !== undefined) return kind.plan(job);
    const user = this.#userOf(job);
    if (job.type === "snapshot") {
      const snapshots = await this.#policyOf(job, undefined).plan(user);
      return { total: snapshots.length, snapshots };
    }
    const { method } = job.body as CallBody;
    const all = await this.#vectorOf(job, user);
    const calls = all
      .slice(0, MAX_PLANNED_CALLS)
      .map((params) => ({ method, params: toShown(params) }));
    return { total: all.length, calls };
  }

  #statusOf(log: CallLog, notBegun: number, work: TaskContext): JobRunStatus {
    if (work.signal.aborted) return "aborted";
    if (this.#options.isStopping() && notBegun > 0) return "interrupted";
    if (log.failed === 0) return "success";
    return log.succeeded === 0 ? "failure" : "partial";
  }

  async #callAll(job: Job, caller: RunCaller): Promise<number> {
    const { method, concurrency = DEFAULT_CONCURRENCY } = job.body as CallBody;
    const all = await this.#vectorOf(job, caller.user());
    return inParallel(
      all,
      { concurrency, isOver: () => caller.isOver },
      async (params) => {
        // Failures are in the log of the run.
        await caller.call(method, params).catch(() => undefined);
      },
    );
  }

  #vectorOf(job: Job, user: AuthenticatedUser): Promise<readonly Params[]> {
    const { catalog, store } = this.#options;
    const secrets = (store.jobs.secret(job.id) ?? {}) as Secrets;
    const body = insertSecrets(job.body as object, secrets) as CallBody;
    const vector = body.paramsVector ?? { type: "set", values: [{}] };
    return resolveVector(vector, (about) => fetchObjects(catalog, user, about));
  }

  #policyOf(job: Job, scheduleId: string | undefined): SnapshotPolicy {
    const body = job.body as SnapshotBody;
    const { schedules } = this.#options.store;
    const schedule =
      scheduleId === undefined
        ? schedules.ofJob(job.id)[0]
        : schedules.get(scheduleId);
    return new SnapshotPolicy(this.#options, {
      jobId: job.id,
      jobName: job.name,
      body,
      timezone: body.timezone ?? schedule?.timezone,
    });
  }

  #userOf({ userId }: Job): AuthenticatedUser {
    const user =
      userId === undefined ? undefined : this.#options.users.get(userId);
    if (user !== undefined) return user;
    throw new XoError("FORBIDDEN", {
      reason: "the user of the job was deleted",
    });
  }
}

function bodyOf(job: Job): Pick<CallBody, "timeout" | "runTimeout"> {
  return job.body as CallBody;
}
