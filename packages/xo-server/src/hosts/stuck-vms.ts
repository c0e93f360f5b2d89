import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { HostEvacuationPlan } from "../placement/evacuations.js";

/** A VM that cannot be evacuated, with XAPI's reason. */
export interface StuckVm {
  readonly vm: PoolObject;
  readonly host: PoolObject;
  /** Such as `VM_LACKS_FEATURE`, with parameters. */
  readonly reason: readonly string[];
}

/** VMs that prevent the evacuation of a host, according to XAPI. */
export async function stuckOn(
  host: PoolObject,
  objects: PoolObjects,
): Promise<StuckVm[]> {
  const method = "host.get_vms_which_prevent_evacuation";
  const stuck = await host.xapi.call(method, [host.ref]);
  return Object.entries(stuck as Readonly<Record<string, string[]>>).map(
    ([ref, reason]) => ({ vm: objects.get(ref, "VM"), host, reason }),
  );
}

/**
 * VMs that cannot be shut down cleanly, for lack of guest tools. They are not
 * hard shut down automatically.
 */
export async function withoutShutdown(
  vms: readonly StuckVm[],
): Promise<StuckVm[]> {
  const stuck: StuckVm[] = [];
  for (const one of vms) {
    const { xapi, ref } = one.vm;
    const allowed = await xapi.call("VM.get_allowed_operations", [ref]);
    if (!(allowed as readonly string[]).includes("clean_shutdown"))
      stuck.push({ ...one, reason: [...one.reason, "no clean_shutdown"] });
  }
  return stuck;
}

/** XAPI's errors for lack of room on other hosts. A plan may make room. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set([
  "NO_HOSTS_AVAILABLE",
  "HOST_NOT_ENOUGH_FREE_MEMORY",
]);

/** VMs that cannot be migrated, and VMs that the plan could not place. */
export function allStuck(
  host: PoolObject,
  {
    stuck,
    leave,
  }: {
    readonly stuck: readonly StuckVm[];
    readonly leave: HostEvacuationPlan | undefined;
  },
  objects: PoolObjects,
): StuckVm[] {
  if (leave === undefined) return [...stuck];
  const found = stuck.filter(
    ({ vm, reason }) => !NO_ROOM.has(reason[0]) || !leave.placed.has(vm.id),
  );
  const known = new Set(found.map(({ vm }) => vm.id));
  const placeless = leave.stuck
    .filter(({ vm }) => !known.has(vm))
    .map(({ vm, refusals }) => ({
      vm: objects.get(vm, "VM"),
      host,
      reason: ["NO_HOST_FOR_VM", ...refusals.map(({ rule }) => rule)],
    }));
  return [...found, ...placeless];
}

/** Names in the message; the data has more. */
const MOST_NAMED = 5;
const MOST_TOLD = 100;

/**
 * @param conflict rules that cannot all hold if they leave
 * @throws XoError VMS_CANNOT_LEAVE, unless there are none
 */
export function refuseStuck(
  stuck: readonly StuckVm[],
  conflict?: object,
): void {
  if (stuck.length === 0) return;
  const named = stuck
    .slice(0, MOST_NAMED)
    .map(({ vm, reason }) => `${nameOf(vm)}: ${reason[0] ?? "?"}`);
  const more = stuck.length > MOST_NAMED ? ["..."] : [];
  throw new XoError("VMS_CANNOT_LEAVE", {
    count: stuck.length,
    reasons: [...named, ...more].join("; "),
    ...(conflict && { conflict }),
    vms: stuck.slice(0, MOST_TOLD).map(({ vm, host, reason }) => ({
      id: vm.id,
      name: nameOf(vm),
      host: host.id,
      code: reason[0],
      params: reason.slice(1),
    })),
  });
}

export function nameOf({ object }: PoolObject): string {
  return String(object["name_label"]);
}
