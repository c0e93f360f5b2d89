import type { PoolObject } from "../objects/pool-objects.js";
import { guestsOf, toEach, withoutBlocks } from "./guests.js";
import { rebootAndWait, type RestartParts } from "./restart.js";

/**
 * Reboots a host with its guests suspended to disk meanwhile: they need no
 * other host. Whatever fails, those that were suspended are resumed.
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
    if (object["enabled"] === true)
      await xapi.call("host.enable", [ref]).catch(() => undefined);
    // What went wrong first is what is told.
    await resumeAll(suspended, host).catch(() => undefined);
    throw error;
  }
  await resumeAll(suspended, host);
}

function resumeAll(vms: readonly PoolObject[], host: PoolObject) {
  return toEach(vms, (vm) =>
    vm.xapi.callAsync("VM.resume_on", [vm.ref, host.ref, false, false]),
  );
}
