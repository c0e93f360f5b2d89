import type { PoolObject } from "../objects/pool-objects.js";
import { guestsOf, toEach, withoutBlocks } from "./guests.js";
import { undoAfter } from "../operations/undo.js";
import { enableAgain } from "./evacuate-host.js";
import { rebootAndWait, type RestartParts } from "./restart.js";
import { nameOf } from "./evacuation-blockers.js";

/**
 * Suspends the VMs of a host to disk, reboots the host and resumes them. No
 * other host is needed. After a failure the suspended VMs are resumed.
 * @throws XoError LEFT_BEHIND: VMs are still suspended, or the host is disabled
 */
export async function smartReboot(
  host: PoolObject,
  parts: RestartParts,
  { bypassBlockedSuspend }: { readonly bypassBlockedSuspend: boolean },
): Promise<void> {
  const guests = guestsOf(host, parts.objects);
  const running = guests.filter(
    ({ object }) => object["power_state"] === "Running",
  );
  await withoutBlocks(running, bypassBlockedSuspend ? ["suspend"] : [], () =>
    rebootWithout(running, host, parts),
  );
}

async function rebootWithout(
  running: readonly PoolObject[],
  host: PoolObject,
  parts: RestartParts,
): Promise<void> {
  const { xapi, ref, object } = host;
  const suspended: PoolObject[] = [];
  await xapi.call("host.disable", [ref]);
  try {
    await toEach(running, async (vm) => {
      await vm.xapi.callAsync("VM.suspend", [vm.ref]);
      suspended.push(vm);
    });
    await rebootAndWait(host, parts);
  } catch (error) {
    throw await undoAfter(error, [
      ...(object["enabled"] === true ? [enableAgain(host)] : []),
      {
        left: `VMs of host ${nameOf(host)} (suspended)`,
        run: () => resumeAll(suspended, host),
      },
    ]);
  }
  await resumeAll(suspended, host);
}

function resumeAll(vms: readonly PoolObject[], host: PoolObject) {
  return toEach(vms, (vm) =>
    vm.xapi.callAsync("VM.resume_on", [vm.ref, host.ref, false, false]),
  );
}
