import { XoError } from "@xo-server/model";

export interface UndoStep {
  /** What remains if this step fails: `host h1 (disabled)`. */
  readonly left: string;
  readonly run: () => Promise<unknown>;
}

/**
 * Undoes completed steps after a failure.
 * @param steps run one after another; a failure of one does not prevent the others
 * @returns the error to throw: the failure, or LEFT_BEHIND with the failure as its
 * cause if a step failed
 */
export async function undoAfter(
  failure: unknown,
  steps: readonly UndoStep[],
): Promise<unknown> {
  const left: string[] = [];
  for (const step of steps)
    try {
      await step.run();
    } catch (error) {
      left.push(`${step.left}: ${messageOf(error)}`);
    }
  if (left.length === 0) return failure;
  const data = { reason: messageOf(failure), left: left.join(", ") };
  return new XoError("LEFT_BEHIND", data, failure);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
