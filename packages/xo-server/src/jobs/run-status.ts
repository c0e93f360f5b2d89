import type { JobRunStatus } from "@xo-server/store";
import type { TaskContext } from "../tasks/task-context.js";

/** Number of VMs of a run by their result. */
interface RunCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/**
 * The status of a finished run over VMs.
 * @param isStopping whether the server is shutting down
 */
export function statusOfRun(
  work: Pick<TaskContext, "signal">,
  isStopping: boolean,
  { succeeded, failed, notBegun = 0, error }: RunCounts,
): JobRunStatus {
  if (work.signal.aborted) return "aborted";
  if (isStopping && notBegun > 0) return "interrupted";
  if (error !== undefined) return "failure";
  if (failed === 0) return "success";
  return succeeded === 0 ? "failure" : "partial";
}
