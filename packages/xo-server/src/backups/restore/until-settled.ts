import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import type { TaskContext } from "../../tasks/task-context.js";

/**
 * Waits until the pool executes nothing any more of a restore that was interrupted: it would create
 * objects that the restore which continues has searched for, and not found.
 */
export async function untilSettled(
  interrupted: Pick<InterruptedTask, "awaitOutcomes">,
  task: TaskContext,
): Promise<void> {
  await interrupted.awaitOutcomes(undefined, task);
}
