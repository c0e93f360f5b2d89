import type { TaskFailure } from "./task.js";

/** The run of a job that has failed. */
interface FailedRun {
  readonly jobName: string;
  /** Path of its log on the page; undefined: runs of this type have no page. */
  readonly path: string | undefined;
}

/** Types of jobs whose runs the backup page shows. */
const typesWithPage: ReadonlySet<unknown> = new Set([
  "backup",
  "metadataBackup",
  "mirrorBackup",
  "restore-test",
]);

/** Reads the run from the error of its task; undefined: it is not the task of a run. */
export function failedRunOf(
  failure: TaskFailure | undefined,
): FailedRun | undefined {
  const { run, jobName, jobType } = (failure?.data ?? {}) as {
    readonly run?: unknown;
    readonly jobName?: unknown;
    readonly jobType?: unknown;
  };
  if (typeof run !== "string" || typeof jobName !== "string") return undefined;
  const path = typesWithPage.has(jobType)
    ? `/backup/runs/${encodeURIComponent(run)}`
    : undefined;
  return { jobName, path };
}
