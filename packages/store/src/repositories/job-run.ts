import type { JobRunRow } from "../schema/tables.js";

/**
 * `queued`: waits for the previous run; `partial`: some of its calls failed;
 * `skipped`: was due but not run; `interrupted`: its server stopped.
 */
export type JobRunStatus =
  | "queued"
  | "pending"
  | "success"
  | "failure"
  | "partial"
  | "skipped"
  | "interrupted"
  | "aborted";

/** One run of a job, or a skipped one. */
export interface JobRun {
  readonly id: string;
  readonly jobId: string;
  /** Name of the job at that time. */
  readonly jobName: string;
  /** Absent: started manually. */
  readonly scheduleId?: string;
  readonly owner: string;
  readonly userId?: string;
  readonly status: JobRunStatus;
  /** Scheduled time. */
  readonly dueAt?: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly taskId?: string;
  /** Calls and their results, JSON. */
  readonly body: unknown;
}

/** What this package itself stores in the body of a run until its end. */
export interface RunBody {
  /** Why the run was skipped. */
  readonly reason?: string;
  /** Whether the run has settings of its own; absent: it was started by a version that did not record it. */
  readonly hasChoice?: boolean;
}

/** Members that change during a run. */
export type JobRunEnd = Pick<JobRun, "status" | "endedAt" | "taskId"> & {
  readonly body?: unknown;
};

/** Statuses of runs that have not ended. */
export const unfinished = ["pending", "queued"] as const;

/** A run from its row; NULL becomes a missing member. */
export function toJobRun(row: JobRunRow): JobRun {
  const { hasChoice, ...body } = JSON.parse(row.body_json) as RunBody;
  void hasChoice;
  return {
    id: row.id,
    jobId: row.job_id,
    jobName: row.job_name,
    ...(row.schedule_id === null ? {} : { scheduleId: row.schedule_id }),
    owner: row.owner,
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    status: row.status as JobRunStatus,
    ...(row.due_at === null ? {} : { dueAt: row.due_at }),
    startedAt: row.started_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
    body,
  };
}
