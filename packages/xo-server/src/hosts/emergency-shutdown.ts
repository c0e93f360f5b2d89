import { XoError } from "@xo-server/model";
import type { TurnLimiter } from "../bulk/turn-limiter.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { eachOf, guestIdsOf } from "./guests.js";
import { callIgnoringConnectionLoss } from "./restart.js";

interface EmergencyShutdownParts {
  readonly objects: PoolObjects;
  /**
   * Limits how many VMs of all hosts start in one turn of the event loop, because
   * hundreds of XAPI tasks can end in one turn.
   */
  readonly turns: Pick<TurnLimiter, "next">;
}

/**
 * Shuts a host down quickly without losing the state of guests: guests are
 * suspended; those that cannot be suspended are shut down hard.
 */
export async function emergencyShutdown(
  host: PoolObject,
  { objects, turns }: EmergencyShutdownParts,
): Promise<void> {
  const { xapi, ref } = host;
  await xapi.call("host.disable", [ref]);
  // Each VM is read when it is processed: reading all VMs of a host at once would
  // block the event loop.
  let lost: XoError | undefined;
  await eachOf(guestIdsOf(host), async (id) => {
    await turns.next();
    // The other VMs would fail too.
    if (lost !== undefined) throw lost;
    // Deleted since the host was read: nothing has to be stopped.
    if (objects.find(id)?.type !== "VM") return;
    const vm = objects.get(id);
    try {
      await vm.xapi.callAsync("VM.suspend", [vm.ref]);
    } catch (error) {
      if (isLost(error)) {
        lost = error;
        throw error;
      }
      await turns.next();
      // The host is about to lose power, so a VM that cannot be suspended is stopped.
      await vm.xapi.callAsync("VM.hard_shutdown", [vm.ref]);
    }
  });
  await callIgnoringConnectionLoss(host, "host.shutdown");
}

/**
 * Whether the connection to the pool is closed or the task was cancelled, so that
 * further calls would fail.
 */
function isLost(error: unknown): error is XoError {
  return (
    error instanceof XoError &&
    (error.code === "CLOSED" ||
      error.code === "NOT_CONNECTED" ||
      error.code === "ABORTED")
  );
}
