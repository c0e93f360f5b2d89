import { XoError } from "@xo-server/model";
import type { WriteUnit } from "../commit/write-unit.js";
import { checkName, checkText, toJson } from "../schema/limits.js";
import type { JobRunRow } from "../schema/tables.js";
import { toJobRun, type JobRun, type RunBody } from "./job-run.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

export interface RunStart {
  readonly jobId: string;
  readonly jobName: string;
  /** The server that starts the run. */
  readonly owner: string;
  readonly userId?: string;
  /** Started manually, with the settings of the schedule. */
  readonly scheduleId?: string;
  /** Absent: started manually. */
  readonly schedule?: {
    readonly id: string;
    readonly dueAt: number;
    /** This run covers all times of the schedule until then. */
    readonly until: number;
    /** What to do if the job is running. */
    readonly overlap: "skip" | "queue";
  };
  /** Records a skipped run with this reason instead of starting one. */
  readonly skip?: string;
  /** Whether the run has settings of its own, which are not stored here. */
  readonly hasChoice?: boolean;
}

/** Which server runs a job at which time: decided by the database, so that exactly one of several servers does. */
export class JobRunClaims {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  async begin(start: RunStart, fence?: Fence): Promise<JobRun | undefined> {
    const { committer, createId, clock } = this.#context;
    const id = createId();
    const now = clock.now();
    return committer.run(async (unit) => {
      await checkFence(unit, fence);
      await lockJob(unit, start.jobId);
      if (!(await isFree(unit, start))) return undefined;
      const { status, reason } = await verdictOf(unit, start);
      const row = toRow(start, { id, now, status, reason });
      await unit.sql.insertInto("job_runs").values(row).execute();
      return toJobRun(row);
    });
  }

  async beginQueued(owner: string, fence?: Fence): Promise<JobRun | undefined> {
    const { committer, clock, engine, availability } = this.#context;
    const queued = await availability.run(() =>
      engine.reader
        .selectFrom("job_runs as waiting")
        .select(["waiting.id", "waiting.job_id"])
        .where("waiting.status", "=", "queued")
        .where((e) =>
          e.not(
            e.exists(
              e
                .selectFrom("job_runs as other")
                .select("other.id")
                .whereRef("other.job_id", "=", "waiting.job_id")
                .where("other.status", "=", "pending"),
            ),
          ),
        )
        .orderBy("waiting.started_at")
        .limit(1)
        .executeTakeFirst(),
    );
    if (queued === undefined) return undefined;
    const now = clock.now();
    const columns = { status: "pending", owner, started_at: now };
    return committer.run(async (unit) => {
      await checkFence(unit, fence);
      // The job was deleted: its queued run is deleted too.
      if (!(await tryLockJob(unit, queued.job_id))) {
        await deleteRun(unit, queued.id);
        return undefined;
      }
      if (await isBusy(unit, queued.job_id, ["pending"])) return undefined;
      const row = await unit.sql
        .updateTable("job_runs")
        .set(columns)
        .where("id", "=", queued.id)
        .where("status", "=", "queued")
        .returningAll()
        .executeTakeFirst();
      return row && toJobRun(row);
    });
  }
}

/** An UPDATE locks the row (a SELECT would not): other servers that start the job wait. */
async function tryLockJob(unit: WriteUnit, id: string): Promise<boolean> {
  const row = await unit.sql
    .updateTable("jobs")
    .set({ id })
    .where("id", "=", id)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

async function lockJob(unit: WriteUnit, id: string): Promise<void> {
  if (!(await tryLockJob(unit, id)))
    throw new XoError("NO_SUCH_OBJECT", { type: "job", id });
}

/** Marks this time of the schedule as processed. */
async function isFree(
  unit: WriteUnit,
  { schedule }: RunStart,
): Promise<boolean> {
  if (schedule === undefined) return true;
  const row = await unit.sql
    .updateTable("schedule_marks")
    .set({ done_until: schedule.until })
    .where("id", "=", schedule.id)
    .where("done_until", "<", schedule.until)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

async function verdictOf(
  unit: WriteUnit,
  { jobId, schedule, skip }: RunStart,
): Promise<{ status: JobRun["status"]; reason?: string }> {
  if (skip !== undefined) return { status: "skipped", reason: skip };
  if (!(await isBusy(unit, jobId, ["pending"]))) return { status: "pending" };
  const queues = schedule?.overlap === "queue";
  if (queues && !(await isBusy(unit, jobId, ["queued"])))
    return { status: "queued" };
  const reason = queues
    ? "a run is under way, and another waits for it"
    : "a run is under way";
  return { status: "skipped", reason };
}

async function isBusy(
  unit: WriteUnit,
  jobId: string,
  statuses: readonly string[],
): Promise<boolean> {
  const row = await unit.sql
    .selectFrom("job_runs")
    .select("id")
    .where("job_id", "=", jobId)
    .where("status", "in", statuses)
    .executeTakeFirst();
  return row !== undefined;
}

async function deleteRun(unit: WriteUnit, id: string): Promise<void> {
  await unit.sql.deleteFrom("job_runs").where("id", "=", id).execute();
}

function toRow(
  start: RunStart,
  run: {
    readonly id: string;
    readonly now: number;
    readonly status: JobRun["status"];
    readonly reason?: string | undefined;
  },
): JobRunRow {
  const { id, now, status, reason } = run;
  const body: RunBody = {
    ...(reason === undefined ? {} : { reason }),
    // Also if it has none: runs of versions that did not record it may have some.
    hasChoice: start.hasChoice === true,
  };
  return {
    id,
    job_id: start.jobId,
    job_name: checkText("the job's name", start.jobName),
    schedule_id: start.schedule?.id ?? start.scheduleId ?? null,
    owner: checkName("the owner", start.owner),
    user_id: start.userId ?? null,
    status,
    due_at: start.schedule?.dueAt ?? null,
    started_at: now,
    ended_at: status === "skipped" ? now : null,
    task_id: null,
    body_json: toJson("the run", body),
  };
}
