import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { HandlerContext } from "../../operations/operation.js";
import { toBytes } from "../parameters/byte-size.js";
import { toMemoryLimits } from "../parameters/memory-limits.js";
import type { ResourceSetAccess, ResourceUsage } from "./resource-sets.js";
import type { VmSettings } from "../parameters/vm-parameters.js";

type VmObject = Pick<PoolObject, "id" | "object">;

const none: ResourceUsage = { cpus: 0, memory: 0, disk: 0 };

/** CPUs and maximum memory of a VM, template or snapshot. */
function computeOf({ object }: VmObject): ResourceUsage {
  const { CPUs, memory } = object as {
    readonly CPUs?: { readonly number?: number };
    readonly memory?: { readonly dynamic?: readonly number[] };
  };
  return {
    cpus: CPUs?.number ?? 0,
    memory: memory?.dynamic?.[1] ?? 0,
    disk: 0,
  };
}

/** Usage of a VM, template or snapshot in a set: CPUs, memory and disks. */
function usageOf(
  vm: VmObject,
  objects: Pick<PoolObjects, "find">,
): ResourceUsage {
  const vbds = vm.object["$VBDs"];
  const disks = new Set<string>();
  for (const id of Array.isArray(vbds) ? (vbds as string[]) : []) {
    const { VDI, is_cd_drive } = objects.find(id)?.object ?? {};
    if (typeof VDI === "string" && is_cd_drive !== true) disks.add(VDI);
  }
  const sizes = [...disks].map((id) => sizeOf(id, objects));
  const disk = sizes.reduce((sum, size) => sum + size, 0);
  return { ...computeOf(vm), disk };
}

/**
 * Usage of a VM including its snapshots; backup snapshots only count in the number
 * of snapshots.
 */
function usageWithSnapshots(
  vm: VmObject,
  objects: Pick<PoolObjects, "find">,
): ResourceUsage {
  const ids = vm.object["snapshots"];
  const all = Array.isArray(ids) ? (ids as string[]) : [];
  const snapshots = all.flatMap((id) => objects.find(id) ?? []);
  const disk = snapshots
    .filter(({ object }) => !isOfBackup(object))
    .reduce(
      (sum, snapshot) => sum + usageOf(snapshot, objects).disk,
      usageOf(vm, objects).disk,
    );
  return { ...computeOf(vm), disk, snapshots: all.length };
}

/** Key by which Xen Orchestra marks backup snapshots. */
const BACKUP_KEY = "xo:backup:job";

/** Whether a backup has created a snapshot: its disks are not counted, as in Xen Orchestra. */
export function isOfBackup(
  snapshot: Readonly<Record<string, unknown>>,
): boolean {
  const other = snapshot["other"] as Readonly<Record<string, unknown>> | null;
  return other?.[BACKUP_KEY] !== undefined;
}

/** Growth by a snapshot of a VM: the sizes of its disks, as in Xen Orchestra. */
export function growthOfSnapshot(
  vm: VmObject,
  objects: Pick<PoolObjects, "find">,
): Pick<ResourceUsage, "disk" | "snapshots"> {
  return { snapshots: 1, disk: usageOf(vm, objects).disk };
}

/** Size of a disk in bytes. */
function sizeOf(vdi: string, objects: Pick<PoolObjects, "find">): number {
  const size = objects.find(vdi)?.object["size"];
  return typeof size === "number" ? size : 0;
}

/** Growth by settings of a VM; never negative. */
export function growthOfSettings(
  vm: VmObject,
  { CPUs, memory, memoryMin, memoryMax = memory, memoryStaticMax }: VmSettings,
): ResourceUsage {
  const now = computeOf(vm);
  const change = {
    min: memoryMin === undefined ? undefined : toBytes(memoryMin),
    max: memoryMax === undefined ? undefined : toBytes(memoryMax),
    staticMax:
      memoryStaticMax === undefined ? undefined : toBytes(memoryStaticMax),
  };
  const limits = {
    staticMin: 0,
    dynamicMin: 0,
    dynamicMax: now.memory,
    staticMax: Math.max(now.memory, change.max ?? 0),
  };
  const isChanged = Object.values(change).some((bytes) => bytes !== undefined);
  const next = isChanged
    ? toMemoryLimits(limits, { ...change, min: undefined }, true).dynamicMax
    : now.memory;
  return {
    cpus: Math.max(0, (CPUs ?? 0) - now.cpus),
    memory: Math.max(0, next - now.memory),
    disk: 0,
  };
}

/** Growth when a VM is reverted to a snapshot, with or without a snapshot of the current state. */
export function growthOfRevert(
  vm: VmObject,
  snapshot: VmObject,
  {
    objects,
    snapshotBefore,
  }: {
    readonly objects: Pick<PoolObjects, "find">;
    readonly snapshotBefore: boolean;
  },
): ResourceUsage {
  const [now, next] = [usageOf(vm, objects), usageOf(snapshot, objects)];
  const disk = Math.max(0, next.disk - now.disk);
  return {
    cpus: Math.max(0, next.cpus - now.cpus),
    memory: Math.max(0, next.memory - now.memory),
    disk: snapshotBefore ? disk + now.disk : disk,
    snapshots: snapshotBefore ? 1 : 0,
  };
}

/** The caller, and the resource sets. */
interface GrowthContext extends Pick<HandlerContext, "user"> {
  readonly objects: Pick<PoolObjects, "find">;
  readonly services: { readonly resourceSets: ResourceSetAccess };
}

/**
 * Runs code that makes a VM larger. The growth is reserved in its resource set, and
 * released if the code fails. Administrators are not limited.
 * @throws XoError RESOURCES_EXHAUSTED
 */
export async function withGrowth<T>(
  vm: VmObject,
  growth: Partial<ResourceUsage>,
  { user, services }: GrowthContext,
  run: () => Promise<T>,
): Promise<T> {
  const set = setOf(vm);
  if (set === undefined || user?.isAdmin === true) return run();
  const { resourceSets } = services;
  const share = await resourceSets.grow(set, vm.id, { ...none, ...growth });
  try {
    const result = await run();
    await share.settle();
    return result;
  } catch (error) {
    await share.release();
    throw error;
  }
}

/**
 * Runs code that makes a disk larger; the growth is reserved for each VM that it is
 * attached to.
 */
export async function withDiskGrowth<T>(
  vdi: VmObject,
  bytes: number,
  context: GrowthContext,
  run: () => Promise<T>,
): Promise<T> {
  const vbds = vdi.object["$VBDs"];
  const vms = new Map<string, VmObject>();
  for (const id of Array.isArray(vbds) ? (vbds as string[]) : []) {
    const vm = context.objects.find(
      String(context.objects.find(id)?.object["VM"]),
    );
    if (vm?.type === "VM") vms.set(vm.id, vm);
  }
  const growth = { disk: Math.max(0, bytes) };
  return [...vms.values()].reduce<() => Promise<T>>(
    (next, vm) => () => withGrowth(vm, growth, context, next),
    run,
  )();
}

/** `converted`: a template becomes the VM, so its disks are already counted. */
type CopyKind = "vm" | "template" | "converted";

/**
 * Runs code that creates a VM from another VM of a resource set. The copy is
 * counted in the same set, and the caller gets the rights of an owner.
 * @param run creates the VM and returns its id
 * @throws XoError RESOURCES_EXHAUSTED
 */
export async function withCopy(
  source: VmObject,
  context: HandlerContext & GrowthContext,
  run: () => Promise<string>,
  kind: CopyKind = "vm",
): Promise<string> {
  const set = setOf(source);
  if (set === undefined || context.user?.isAdmin === true) return run();
  const { resourceSets } = context.services;
  const whole = usageOf(source, context.objects);
  const usage =
    kind === "template"
      ? { cpus: 0, memory: 0, disk: whole.disk, vms: 0 }
      : kind === "converted"
        ? { ...whole, disk: 0 }
        : whole;
  const taken = await resourceSets.reserveFor(set, usage, context);
  try {
    const id = await run();
    await taken.own(id);
    return id;
  } catch (error) {
    await taken.release();
    throw error;
  }
}

/**
 * Checks that a disk that is counted in a resource set would not remain uncounted,
 * attached to no VM of that set. Administrators may do that.
 * @param vdi id of the disk; absent: all disks of the VM
 * @throws XoError FORBIDDEN_OPERATION
 */
export function assertDiskCounted(
  vm: VmObject,
  { user, objects }: Pick<GrowthContext, "user" | "objects">,
  vdi?: string,
): void {
  const set = setOf(vm);
  if (set === undefined || user?.isAdmin === true) return;
  if (vdi !== undefined && isCounted(vdi, set, { objects, except: vm.id }))
    return;
  throw new XoError("FORBIDDEN_OPERATION", {
    operation: vdi === undefined ? "keep the disks" : "detach the disk",
    reason:
      "it is counted in a resource set: delete it, or attach it to another VM of the set first",
    objectId: vdi ?? vm.id,
  });
}

/** Whether a disk is attached to a VM of a set. */
function isCounted(
  vdi: string,
  set: string,
  {
    objects,
    except,
  }: {
    readonly objects: Pick<PoolObjects, "find">;
    readonly except?: string;
  },
): boolean {
  const vbds = objects.find(vdi)?.object["$VBDs"];
  return (Array.isArray(vbds) ? (vbds as string[]) : []).some((id) => {
    const vm = objects.find(String(objects.find(id)?.object["VM"]));
    return vm !== undefined && vm.id !== except && setOf(vm) === set;
  });
}

/** Growth by attaching a disk to a VM of a set. */
export function growthOfDisk(
  vm: VmObject,
  vdi: string,
  objects: Pick<PoolObjects, "find">,
): Pick<ResourceUsage, "disk"> {
  const set = setOf(vm);
  const isKnown = set !== undefined && isCounted(vdi, set, { objects });
  return { disk: isKnown ? 0 : sizeOf(vdi, objects) };
}

/** The id of a VM's resource set. */
export function setOf({ object }: VmObject): string | undefined {
  const set = object["resourceSet"];
  return typeof set === "string" && set !== "" ? set : undefined;
}

/**
 * Users who are not administrators may move a VM into one of their own sets, where
 * it is counted. They may neither remove it from a set nor share it.
 * @returns to be called if the move fails
 * @throws XoError FORBIDDEN, NO_SUCH_OBJECT, RESOURCES_EXHAUSTED
 */
export async function moveToSet(
  vm: VmObject,
  { resourceSet, share }: Pick<VmSettings, "resourceSet" | "share">,
  context: HandlerContext & GrowthContext,
): Promise<() => Promise<void>> {
  const nothing = () => Promise.resolve();
  if (context.user?.isAdmin === true) return nothing;
  const present = setOf(vm);
  const isMoved =
    resourceSet !== undefined && resourceSet !== (present ?? null);
  if (share === true || (isMoved && resourceSet === null))
    throw new XoError("FORBIDDEN", { permission: "admin" });
  if (!isMoved || typeof resourceSet !== "string") return nothing;
  const { resourceSets } = context.services;
  // The current set must also be one of the caller's sets.
  if (present !== undefined) resourceSets.open(present, context);
  const set = resourceSets.open(resourceSet, context);
  return set.reserve(usageWithSnapshots(vm, context.objects), vm.id);
}
