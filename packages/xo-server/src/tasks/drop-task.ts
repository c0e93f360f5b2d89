import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/**
 * Deletes the XAPI task of a transfer that has failed, or whose process has ended. XAPI completes such a task
 * only if data has reached its handler; it would keep a pending one for a day. Never rejects.
 */
export async function dropTask(xapi: Xapi, xapiTask: Ref): Promise<void> {
  for (const [method, ...params] of [
    ["task.cancel"],
    ["task.set_status", "cancelled"],
    ["task.destroy"],
  ] as const)
    try {
      await xapi.call(method, [xapiTask, ...params]);
    } catch {
      // It has ended and cannot be cancelled, or it no longer exists.
    }
}
