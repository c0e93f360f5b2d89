import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { eachOf, guestIdsOf } from "./guests.js";
import { goDown } from "./restart.js";

/**
 * Shuts a host down, as fast as nothing is lost: guests are suspended, those
 * that cannot be lose their power.
 */
export async function emergencyShutdown(
  host: PoolObject,
  objects: PoolObjects,
): Promise<void> {
  const { xapi, ref } = host;
  await xapi.call("host.disable", [ref]);
  // Each VM is read at its turn: all of a host at once would block the event loop.
  await eachOf(guestIdsOf(host), async (id) => {
    // Deleted since the host was read: there is nothing to stop.
    if (objects.find(id)?.type !== "VM") return;
    const vm = objects.get(id);
    try {
      await vm.xapi.callAsync("VM.suspend", [vm.ref]);
    } catch {
      // The host is about to lose power: a VM that cannot be suspended is stopped.
      await vm.xapi.callAsync("VM.hard_shutdown", [vm.ref]);
    }
  });
  await goDown(host, "host.shutdown");
}
