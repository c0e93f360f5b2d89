import type { JobRunRow } from "../schema/tables.js";

/**
 * `queued`: waits for the run before; `partial`: some of its calls failed;
 * `skipped`: was due and not done; `interrupted`: its server died.
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

/** One time that a job was done, or should have been. */
export interface JobRun {
  readonly id: string;
  readonly jobId: string;
  /** As it was called then. */
  readonly jobName: string;
  /** Absent: somebody asked for it. */
  readonly scheduleId?: string;
  readonly owner: string;
  readonly userId?: string;
  readonly status: JobRunStatus;
  /** When the schedule wanted it. */
  readonly dueAt?: number;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly taskId?: string;
  /** What was called, and what came of it: JSON. */
  readonly body: unknown;
}

/** What changes of one while it is done. */
export type JobRunEnd = Pick<JobRun, "status" | "endedAt" | "taskId"> & {
  readonly body?: unknown;
};

/** Of those that have not ended. */
export const unfinished = ["pending", "queued"] as const;

export function toJobRun(row: JobRunRow): JobRun {
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
    body: JSON.parse(row.body_json) as unknown,
  };
}
