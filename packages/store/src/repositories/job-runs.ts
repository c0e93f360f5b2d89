import { checkPageRows, toJson } from "../schema/limits.js";
import { whereOlder, type PageCursor } from "./page-cursor.js";
import type { JobRunRow } from "../schema/tables.js";
import { JobRunClaims, type RunStart } from "./job-run-claims.js";
import {
  toJobRun,
  unfinished,
  type JobRun,
  type JobRunEnd,
  type RunBody,
} from "./job-run.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

export interface JobRunPageOptions {
  readonly jobId?: string;
  /** Runs of any of these jobs. */
  readonly jobIds?: readonly string[];
  readonly scheduleId?: string;
  readonly status?: JobRun["status"];
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface JobRunPage {
  /** Newest first. */
  readonly runs: readonly JobRun[];
  /** Cursor of the next page; absent on the last page. */
  readonly cursor?: string;
}

/** Runs of a server, of these ids, or both. */
type JobRunSelection =
  | { readonly owner: string; readonly ids?: readonly string[] }
  | { readonly owner?: undefined; readonly ids: readonly string[] };

/** Runs of versions that did not record whether they have settings of their own may have some. */
function isWithoutChoice({ body_json }: Pick<JobRunRow, "body_json">): boolean {
  const { hasChoice } = JSON.parse(body_json) as RunBody;
  return hasChoice === false;
}

/** The log of job runs, in the database only. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class JobRuns {
  readonly #context: RepositoryContext;
  readonly #claims: JobRunClaims;

  constructor(context: RepositoryContext) {
    this.#context = context;
    this.#claims = new JobRunClaims(context);
  }

  /**
   * Starts a run, unless another server has processed this time of the schedule or
   * the job is running: only one of several servers gets a `pending` run.
   * @returns the stored run; undefined: another server runs the job
   * @throws XoError NO_SUCH_OBJECT: the job; LEASE_LOST
   */
  begin(start: RunStart, fence?: Fence): Promise<JobRun | undefined> {
    return this.#claims.begin(start, fence);
  }

  /** Starts a queued run of a job that is not running. @returns undefined: there is none */
  beginQueued(owner: string, fence?: Fence): Promise<JobRun | undefined> {
    return this.#claims.beginQueued(owner, fence);
  }

  /** Updates progress or outcome. @throws XoError VALUE_TOO_LARGE, LEASE_LOST */
  async write(id: string, end: JobRunEnd, fence?: Fence): Promise<void> {
    const { committer } = this.#context;
    const { status, endedAt, taskId, body } = end;
    const row = {
      status,
      ...(endedAt === undefined ? {} : { ended_at: endedAt }),
      ...(taskId === undefined ? {} : { task_id: taskId }),
      ...(body === undefined ? {} : { body_json: toJson("the run", body) }),
    };
    await committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .updateTable("job_runs")
        .set(row)
        .where("id", "=", id)
        .execute();
    });
  }

  /**
   * Marks pending runs as interrupted: those of the previous process of this
   * server, or those that were adopted.
   * @returns the interrupted runs
   */
  async interrupt(
    { owner, ids }: JobRunSelection,
    except: readonly string[] = [],
  ): Promise<JobRun[]> {
    if (ids?.length === 0) return [];
    const { committer, clock } = this.#context;
    const rows = await committer.run((unit) => {
      let query = unit.sql
        .updateTable("job_runs")
        .set({ status: "interrupted", ended_at: clock.now() })
        .where("status", "=", "pending");
      if (owner !== undefined) query = query.where("owner", "=", owner);
      if (ids !== undefined) query = query.where("id", "in", ids);
      if (except.length > 0) query = query.where("id", "not in", except);
      return query.returningAll().execute();
    });
    return rows.map(toJobRun);
  }

  /**
   * Queues pending runs again that have not done anything: their process ended before it recorded a task.
   * Not those that have, or may have, settings of their own, which are in their tasks only.
   * @param jobIds only runs of these jobs
   */
  async requeue(
    { owner, ids }: JobRunSelection,
    jobIds: readonly string[],
    except: readonly string[] = [],
  ): Promise<void> {
    if (ids?.length === 0 || jobIds.length === 0) return;
    await this.#context.committer.run(async (unit) => {
      let query = unit.sql
        .selectFrom("job_runs")
        .select(["id", "body_json"])
        .where("status", "=", "pending")
        .where("task_id", "is", null)
        .where("job_id", "in", jobIds);
      if (owner !== undefined) query = query.where("owner", "=", owner);
      if (ids !== undefined) query = query.where("id", "in", ids);
      if (except.length > 0) query = query.where("id", "not in", except);
      const found = await query.execute();
      const again = found.filter(isWithoutChoice).map(({ id }) => id);
      if (again.length === 0) return;
      await unit.sql
        .updateTable("job_runs")
        .set({ status: "queued" })
        .where("id", "in", again)
        .where("status", "=", "pending")
        .where("task_id", "is", null)
        .execute();
    });
  }

  async get(id: string): Promise<JobRun | undefined> {
    const { engine, availability } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("job_runs")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return row && toJobRun(row);
  }

  /** @throws XoError INVALID_PARAMETERS */
  async list(options: JobRunPageOptions = {}): Promise<JobRunPage> {
    const { engine, availability } = this.#context;
    const { jobId, jobIds, scheduleId, status, cursor } = options;
    if (jobIds?.length === 0) return { runs: [] };
    const limit = checkPageRows(options.limit);
    let query = engine.reader
      .selectFrom("job_runs")
      .selectAll()
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(limit);
    if (jobId !== undefined) query = query.where("job_id", "=", jobId);
    if (jobIds !== undefined) query = query.where("job_id", "in", jobIds);
    if (scheduleId !== undefined)
      query = query.where("schedule_id", "=", scheduleId);
    if (status !== undefined) query = query.where("status", "=", status);
    const older = whereOlder(cursor);
    if (older !== undefined) query = query.where(older);
    const rows = await availability.run(() => query.execute());
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return {
      runs: rows.map(toJobRun),
      ...(last && { cursor: `${last.started_at}/${last.id}` }),
    };
  }

  /** Deletes the oldest ended runs. @param jobId only of this job. @returns number of deleted rows */
  async prune(keep: number, jobId?: string): Promise<number> {
    return this.#context.committer.run(async (unit) => {
      let newest = unit.sql
        .selectFrom("job_runs")
        .select(["started_at", "id"])
        .orderBy("started_at", "desc")
        .orderBy("id", "desc")
        .offset(keep)
        .limit(1);
      if (jobId !== undefined) newest = newest.where("job_id", "=", jobId);
      const edge = await newest.executeTakeFirst();
      if (edge === undefined) return 0;
      const first: PageCursor = { time: edge.started_at, id: edge.id };
      let old = unit.sql
        .deleteFrom("job_runs")
        .where((e) => e.or([whereOlder(first)(e), e("id", "=", first.id)]))
        .where("status", "not in", unfinished);
      if (jobId !== undefined) old = old.where("job_id", "=", jobId);
      return (await old.returning("id").execute()).length;
    });
  }
}
