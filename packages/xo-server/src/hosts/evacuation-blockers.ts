import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import { blockerReason } from "./blocker-reason.js";
import type { HostEvacuationPlan } from "../placement/evacuations.js";

/** A VM that cannot be evacuated, with XAPI's reason. */
export interface EvacuationBlocker {
  readonly vm: PoolObject;
  readonly host: PoolObject;
  /** Such as `VM_LACKS_FEATURE`, with parameters. */
  readonly reason: readonly string[];
}

/** VMs that prevent the evacuation of a host, according to XAPI. */
export async function listEvacuationBlockers(
  host: PoolObject,
  objects: PoolObjects,
): Promise<EvacuationBlocker[]> {
  const method = "host.get_vms_which_prevent_evacuation";
  const stuck = await host.xapi.call(method, [host.ref]);
  return Object.entries(stuck as Readonly<Record<string, string[]>>).map(
    ([ref, reason]) => ({ vm: objects.get(ref, "VM"), host, reason }),
  );
}

/**
 * VMs that cannot be shut down cleanly because they have no guest tools. They are
 * not shut down hard automatically.
 */
export async function blockersWithoutShutdown(
  vms: readonly EvacuationBlocker[],
): Promise<EvacuationBlocker[]> {
  const stuck: EvacuationBlocker[] = [];
  for (const one of vms) {
    const { xapi, ref } = one.vm;
    const allowed = await xapi.call("VM.get_allowed_operations", [ref]);
    if (!(allowed as readonly string[]).includes("clean_shutdown"))
      stuck.push({ ...one, reason: [...one.reason, "no clean_shutdown"] });
  }
  return stuck;
}

/**
 * XAPI's errors for too little capacity on other hosts. A plan that migrates other
 * VMs first may still succeed.
 */
const CAPACITY_ERRORS: ReadonlySet<string | undefined> = new Set([
  "NO_HOSTS_AVAILABLE",
  "HOST_NOT_ENOUGH_FREE_MEMORY",
]);

/** Whether XAPI's reason is too little capacity on other hosts. */
export function isCapacityError({ reason }: EvacuationBlocker): boolean {
  return CAPACITY_ERRORS.has(reason[0]);
}

/** VMs that cannot be migrated, and VMs that the plan could not place. */
export function mergeEvacuationBlockers(
  host: PoolObject,
  {
    stuck,
    leave,
  }: {
    readonly stuck: readonly EvacuationBlocker[];
    readonly leave: HostEvacuationPlan | undefined;
  },
  objects: PoolObjects,
): EvacuationBlocker[] {
  if (leave === undefined) return [...stuck];
  const found = stuck.filter(
    ({ vm, reason }) =>
      !CAPACITY_ERRORS.has(reason[0]) || !leave.placed.has(vm.id),
  );
  const known = new Set(found.map(({ vm }) => vm.id));
  const unplaced = leave.stuck
    .filter(({ vm }) => !known.has(vm))
    .map(({ vm, refusals }) => ({
      vm: objects.get(vm, "VM"),
      host,
      reason: ["NO_HOST_FOR_VM", ...refusals.map(({ rule }) => rule)],
    }));
  return [...found, ...unplaced];
}

/** Maximum number of names for each reason in the message; the data contains all VMs. */
const MAX_NAMES = 20;
const MAX_VMS = 1_000;

/**
 * @param conflict rules that cannot all be met if the VMs are evacuated
 * @throws XoError VMS_CANNOT_LEAVE, if there are such VMs
 */
export function assertNoEvacuationBlockers(
  stuck: readonly EvacuationBlocker[],
  conflict?: object,
): void {
  if (stuck.length === 0) return;
  throw new XoError("VMS_CANNOT_LEAVE", {
    count: stuck.length,
    reasons: toReasons(stuck),
    ...(conflict && { conflict }),
    vms: stuck.slice(0, MAX_VMS).map(({ vm, host, reason }) => ({
      id: vm.id,
      name: nameOf(vm),
      host: host.id,
      code: reason[0],
      params: reason.slice(1),
      reason: blockerReason(vm, reason),
    })),
  });
}

/** `web, db: it has a virtual GPU: shut it down`; each reason once, with its VMs. */
function toReasons(stuck: readonly EvacuationBlocker[]): string {
  const names = new Map<string, string[]>();
  for (const { vm, reason } of stuck) {
    const text = blockerReason(vm, reason);
    names.set(text, [...(names.get(text) ?? []), nameOf(vm)]);
  }
  return [...names]
    .map(([reason, all]) => {
      const more = all.length - MAX_NAMES;
      const rest = more > 0 ? ` and ${more} more` : "";
      return `${all.slice(0, MAX_NAMES).join(", ")}${rest}: ${reason}`;
    })
    .join("; ");
}

/** Name label of an object, for messages. */
export function nameOf({ object }: PoolObject): string {
  return String(object["name_label"]);
}
