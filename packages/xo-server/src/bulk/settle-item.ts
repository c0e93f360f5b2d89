import { XoError } from "@xo-server/model";
import {
  reportInterruption,
  type EndedXapiTask,
} from "../tasks/interruption-report.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";

export interface SettleOptions {
  readonly recalled: Pick<InterruptedTask, "awaitOutcomes">;
  /** The work of the operation is one task of a pool. */
  readonly isOneCall: boolean;
  /** Does it, for it has not begun. */
  readonly again: () => Promise<unknown>;
  /** Writes down how it ended, as of any call. */
  readonly tell: (end: () => Promise<unknown>) => Promise<unknown>;
  /** Its part in this run. */
  readonly into: TaskContext;
}

/**
 * Brings to its end what the server died in. It is done again only where it is
 * known that no pool was asked for it.
 * @param part its part in the last run
 * @throws what it failed with; XoError INTERRUPTED: it may have been done, or half
 */
export async function settleItem(
  part: string,
  { recalled, isOneCall, again, tell, into }: SettleOptions,
): Promise<unknown> {
  const landed = await recalled.awaitOutcomes(part, into);
  // A flight is written down before the pool is asked.
  const isUntouched =
    isOneCall && landed.every(({ outcome }) => outcome.name === "not-begun");
  return isUntouched ? again() : tell(async () => conclude(landed, isOneCall));
}

/** @throws what it failed with; XoError INTERRUPTED */
function conclude(landed: readonly EndedXapiTask[], isOneCall: boolean): true {
  const last = landed.at(-1)?.outcome;
  if (isOneCall && last?.name === "success") return true;
  if (isOneCall && last?.name === "failure") throw last.error;
  throw new XoError("INTERRUPTED", { reason: reportInterruption(landed) });
}
