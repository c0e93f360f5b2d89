import type { PoolObject } from "../objects/pool-objects.js";
import { untrackedTask } from "../tasks/task-context.js";
import type { LeaveParts } from "./empty-host.js";
import {
  allStuck,
  refuseStuck,
  stuckOn,
  withoutShutdown,
  type StuckVm,
} from "./stuck-vms.js";

/**
 * That each of these hosts could be emptied, the others being as they are.
 * @param shutdownPinnedVms what cannot move is shut down
 * @throws XoError VMS_CANNOT_LEAVE, ABORTED; what the pool refused
 */
export async function checkLeaving(
  hosts: readonly PoolObject[],
  { objects, evacuations, work = untrackedTask, signal }: LeaveParts,
  { shutdownPinnedVms }: { readonly shutdownPinnedVms: boolean },
): Promise<void> {
  const pinned = new Map<PoolObject, readonly StuckVm[]>();
  for (const host of hosts) pinned.set(host, await stuckOn(host, objects));
  const all = [...pinned.values()].flat();
  const down = shutdownPinnedVms ? all.map(({ vm }) => vm.id) : [];
  const call = { work, signal: signal ?? work.signal };
  const leaves = await evacuations?.plans(hosts, call, new Set(down));
  const stuck = hosts.flatMap((host) => {
    const known = shutdownPinnedVms ? [] : pinned.get(host)!;
    const leave = leaves?.get(host.id);
    return allStuck(host, { stuck: known, leave }, objects);
  });
  const kept = shutdownPinnedVms ? await withoutShutdown(all) : [];
  const conflicts = [...(leaves?.values() ?? [])].map(
    ({ conflict }) => conflict,
  );
  refuseStuck(
    [...kept, ...stuck],
    conflicts.find((one) => one !== undefined),
  );
}
