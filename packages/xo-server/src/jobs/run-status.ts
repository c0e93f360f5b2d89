import type { JobRunStatus } from "@xo-server/store";
import type { TaskContext } from "../tasks/task-context.js";

/** What became of the VMs of a run. */
export interface RunCounts {
  readonly succeeded: number;
  readonly failed: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/** The status of a run over VMs that has ended. @param isStopping whether the server stops */
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
