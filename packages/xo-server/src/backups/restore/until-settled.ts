import type { Xapi } from "@xo-server/xen-api";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import type { TaskContext } from "../../tasks/task-context.js";
import { dropUploads } from "./restore-disk.js";

/**
 * Waits until the pool executes nothing any more of a restore that was interrupted: it would create
 * objects that the restore which continues has searched for, and not found.
 * @param left.xapi not bound to the task
 * @param left.disks names of the disks in the backup
 */
export async function untilSettled(
  {
    xapi,
    disks,
    previous,
  }: {
    readonly xapi: Xapi;
    readonly disks: readonly string[];
    readonly previous: Pick<InterruptedTask, "awaitOutcomes">;
  },
  task: TaskContext,
): Promise<void> {
  // First: nothing ends these, and a session is only ended when its XAPI tasks have ended.
  for (const disk of disks) await dropUploads(xapi, disk, task.wholeTaskId);
  await previous.awaitOutcomes(undefined, task);
}
