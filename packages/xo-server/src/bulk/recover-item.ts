import { XoError } from "@xo-server/model";
import {
  outcomeOfCall,
  reportInterruption,
  type EndedXapiTask,
} from "../tasks/interruption-report.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";

export interface RecoverItemOptions {
  readonly interrupted: Pick<InterruptedTask, "awaitOutcomes">;
  /** The operation is a single XAPI task. */
  readonly isOneCall: boolean;
  /** See Operation. */
  readonly callMethods?: readonly string[] | undefined;
  /** Runs the item again: it had not started. */
  readonly again: () => Promise<unknown>;
  /** Writes the outcome to the audit log like that of any call. */
  readonly audit: (end: () => Promise<unknown>) => Promise<unknown>;
  /** Subtask of the item in this process. */
  readonly into: TaskContext;
}

/**
 * Completes an item that was in progress when the server stopped. It only runs
 * again if no pool had received a request for it.
 * @param part its subtask in the previous process
 * @throws its error; XoError INTERRUPTED: it may have been done completely or
 *   in part
 */
export async function recoverItem(
  part: string,
  options: RecoverItemOptions,
): Promise<unknown> {
  const { interrupted, isOneCall, again, audit, into } = options;
  const outcomes = await interrupted.awaitOutcomes(part, into);
  // The record of a XAPI task is written before the request is sent.
  const isUntouched =
    isOneCall && outcomes.every(({ outcome }) => outcome.name === "not-begun");
  return isUntouched ? again() : audit(async () => conclude(outcomes, options));
}

/** @throws its error; XoError INTERRUPTED */
function conclude(
  outcomes: readonly EndedXapiTask[],
  { isOneCall, callMethods }: RecoverItemOptions,
): true {
  const outcome = outcomeOfCall(outcomes, callMethods);
  if (isOneCall && outcome?.name === "success") return true;
  if (isOneCall && outcome?.name === "failure") throw outcome.error;
  throw new XoError("INTERRUPTED", { reason: reportInterruption(outcomes) });
}
