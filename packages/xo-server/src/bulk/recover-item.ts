import { XoError } from "@xo-server/model";
import {
  outcomeOfCall,
  reportInterruption,
  type EndedXapiTask,
} from "../tasks/interruption-report.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";

/** @typeParam C context of the operation */
interface RecoverItemOptions<C> {
  readonly interrupted: Pick<InterruptedTask, "awaitOutcomes">;
  /** The operation is a single XAPI task. */
  readonly isOneCall: boolean;
  /** See Operation. */
  readonly callMethods?: readonly string[] | undefined;
  /** Completes the item from the outcomes of its XAPI tasks: see Operation. Absent: the last outcome is that of the item. */
  readonly complete?:
    | ((outcomes: readonly EndedXapiTask[], context: C) => unknown)
    | undefined;
  /** Runs the item again: it had not started. */
  readonly again: () => Promise<unknown>;
  /** Writes the outcome to the audit log like that of any call. */
  readonly audit: (end: (context: C) => Promise<unknown>) => Promise<unknown>;
  /** Subtask of the item in this process. */
  readonly into: TaskContext;
}

/**
 * Completes an item that was in progress when the server stopped. It only runs
 * again if no pool had received a request for it.
 * @param part its subtask in the previous process
 * @returns its result, or true
 * @throws its error; XoError INTERRUPTED: it may have been done completely or
 *   in part
 */
export async function recoverItem<C>(
  part: string,
  options: RecoverItemOptions<C>,
): Promise<unknown> {
  const { interrupted, isOneCall, complete, again, audit, into } = options;
  const outcomes = await interrupted.awaitOutcomes(part, into);
  // The record of a XAPI task is written before the request is sent.
  const isUntouched =
    (isOneCall || complete !== undefined) &&
    outcomes.every(({ outcome }) => outcome.name === "not-begun");
  if (isUntouched) return again();
  return audit(async (context) =>
    complete === undefined
      ? conclude(outcomes, options)
      : complete(outcomes, context),
  );
}

/** @throws its error; XoError INTERRUPTED */
function conclude(
  outcomes: readonly EndedXapiTask[],
  {
    isOneCall,
    callMethods,
  }: Pick<RecoverItemOptions<never>, "isOneCall" | "callMethods">,
): true {
  const outcome = outcomeOfCall(outcomes, callMethods);
  if (isOneCall && outcome?.name === "success") return true;
  if (isOneCall && outcome?.name === "failure") throw outcome.error;
  throw new XoError("INTERRUPTED", { reason: reportInterruption(outcomes) });
}
