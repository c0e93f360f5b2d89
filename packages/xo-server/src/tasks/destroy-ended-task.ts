import type { Xapi } from "@xo-server/xen-api";
import type { Ref } from "@xo-server/model";

/**
 * Destroys a XAPI task that has ended. A pending task is not destroyed: XAPI would
 * accept that, but only delete the task when it ends. Never rejects.
 */
export async function destroyEndedTask(xapi: Xapi, ref: Ref): Promise<void> {
  try {
    const status = await xapi.call("task.get_status", [ref]);
    if (status !== "pending" && status !== "cancelling")
      await xapi.call("task.destroy", [ref]);
  } catch {
    // The task no longer exists, or XAPI deletes it itself 65 minutes after its end.
  }
}
