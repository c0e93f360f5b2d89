import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { isHandleInvalid, Rollback } from "../../vms/rollback.js";
import {
  attach,
  exists,
  restoreDisks,
  type DiskParts,
} from "./restore-disks.js";
import type { RestorePlanDisk, VmPlan } from "./restore-plan.js";
import { BLOCKED, isStopping, restoreVtpm } from "./restore-vm.js";

/** A disk that is attached to the VM now. */
export interface AttachedDisk {
  readonly vbd: Ref;
  readonly vdi: Ref;
  readonly sr: Ref;
  readonly userdevice: string;
  /** Bytes. */
  readonly size: number;
}

export interface OverParts extends Pick<
  DiskParts,
  "baseOf" | "upload" | "task" | "journal" | "xapi"
> {
  /** Calls of this client are not cancelled with the task. */
  readonly cleanupXapi: Xapi;
  readonly vm: Ref;
  readonly plan: VmPlan;
  readonly attached: readonly AttachedDisk[];
  /** SR for disks that the VM does not have. */
  readonly defaultSr: Ref;
}

const REASON = "a restore is under way";

/**
 * Restores the disks, the NVRAM and the VTPM of a backup into an existing, halted
 * VM. The new disks are written before the old ones are deleted, so that a restore
 * that fails or is cancelled changes nothing.
 * @throws XapiError; XoError BACKUP_*, ABORTED, LEFT_BEHIND
 */
export async function restoreOver(parts: OverParts): Promise<void> {
  const { xapi, cleanupXapi, vm, plan, task } = parts;
  const rollback = new Rollback();
  let restored: ReadonlyMap<string, Ref>;
  try {
    await block(xapi, vm);
    restored = await writeDisks(parts, rollback);
    task.signal.throwIfAborted();
  } catch (error) {
    if (isStopping(error)) throw error;
    const left = await rollback.run(cleanupXapi);
    await unblock(cleanupXapi, vm);
    if (left.length === 0) throw error;
    const reason = error instanceof Error ? error.message : "it failed";
    throw new XoError("LEFT_BEHIND", { reason, left: left.join(", ") }, error);
  }
  // From here on, only replaced disks are deleted, and a cancellation has no effect any more.
  for (const disk of plan.disks)
    await swap(parts, disk, restored.get(disk.name)!);
  const { NVRAM } = plan.vm;
  if (NVRAM !== undefined) await cleanupXapi.call("VM.set_NVRAM", [vm, NVRAM]);
  await restoreVtpm(cleanupXapi, vm, plan);
  await unblock(cleanupXapi, vm);
}

function writeDisks(
  parts: OverParts,
  rollback: Rollback,
): Promise<ReadonlyMap<string, Ref>> {
  const { plan, attached, defaultSr } = parts;
  const srOf = (name: string) => {
    const disk = plan.disks.find((one) => one.name === name)!;
    return currentOf(disk, attached)?.sr ?? defaultSr;
  };
  return restoreDisks(plan.disks, {
    ...parts,
    attaches: false,
    srOf,
    rollback,
  });
}

function currentOf(
  { userdevice }: RestorePlanDisk,
  attached: readonly AttachedDisk[],
): AttachedDisk | undefined {
  return attached.find((one) => one.userdevice === userdevice);
}

/** The old disk is deleted only when the new one is attached. */
async function swap(
  { cleanupXapi, vm, attached, journal }: OverParts,
  disk: RestorePlanDisk,
  vdi: Ref,
): Promise<void> {
  const current = currentOf(disk, attached);
  const isAttached = current?.vdi === vdi;
  // The previous run of the server may have detached it already.
  const old = journal.replaced(disk.name) ?? current?.vdi;
  if (!isAttached) {
    if (old !== undefined) await journal.writeReplaced(disk.name, old);
    if (current !== undefined)
      await cleanupXapi.callAsync("VBD.destroy", [current.vbd]);
    await attach(cleanupXapi, { vm, vdi, disk });
  }
  if (old === undefined || old === vdi) return;
  if (!(await exists(cleanupXapi, "VDI", old))) return;
  const vbds = (await cleanupXapi.call("VDI.get_VBDs", [
    old,
  ])) as readonly Ref[];
  if (vbds.length === 0) await cleanupXapi.callAsync("VDI.destroy", [old]);
}

async function block(xapi: Xapi, vm: Ref): Promise<void> {
  const blocked = (await xapi.call("VM.get_blocked_operations", [
    vm,
  ])) as Readonly<Record<string, string>>;
  const more = Object.fromEntries(
    BLOCKED.filter((name) => !Object.hasOwn(blocked, name)).map((name) => [
      name,
      REASON,
    ]),
  );
  await xapi.call("VM.set_blocked_operations", [vm, { ...blocked, ...more }]);
}

/** Unblocks the operations that the restore has blocked, if the VM still exists. */
async function unblock(xapi: Xapi, vm: Ref): Promise<void> {
  try {
    const blocked = (await xapi.call("VM.get_blocked_operations", [
      vm,
    ])) as Readonly<Record<string, string>>;
    const rest = Object.entries(blocked).filter(([, why]) => why !== REASON);
    await xapi.call("VM.set_blocked_operations", [
      vm,
      Object.fromEntries(rest),
    ]);
  } catch (error) {
    if (!isHandleInvalid(error)) throw error;
  }
}
