import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import {
  createDisk,
  createVbd,
  CREATED_FOR,
} from "../../vms/drives/new-vbds.js";
import { isHandleInvalid, type Rollback } from "../../vms/rollback.js";
import { retryWhileInUse } from "../../transfers/retry-while-in-use.js";
import { dropUploads } from "./restore-disk.js";
import type { RestoreJournal } from "./restore-journal.js";
import type { RestorePlanDisk } from "./restore-plan.js";

/** A snapshot in the pool with the content of a disk of another backup. */
export interface DiskBase {
  readonly vdi: Ref;
  /** Id of the other backup in the repository. */
  readonly backup: string;
}

export interface DiskParts {
  readonly xapi: Xapi;
  /** The VM that the disks are for. */
  readonly vm: Ref;
  /** Whether disks are attached before they are written. */
  readonly attaches: boolean;
  readonly srOf: (disk: string) => Ref;
  readonly baseOf: (disk: RestorePlanDisk) => Promise<DiskBase | undefined>;
  /** Writes the content of a disk. */
  readonly upload: (
    disk: RestorePlanDisk,
    target: {
      readonly vdi: Ref;
      readonly base: string | undefined;
    },
    part: TaskContext,
  ) => Promise<void>;
  readonly task: TaskContext;
  readonly journal: RestoreJournal;
  /** Deletes the new disks if the restore fails. */
  readonly rollback: Rollback;
}

/** Number of disks of a VM that are written concurrently. */
const MAX_CONCURRENT = 2;

/**
 * Creates and writes disks of a backup. Disks that the previous run of the server
 * has completed are kept.
 * @returns the new VDIs by the name of the disk
 */
export async function restoreDisks(
  disks: readonly RestorePlanDisk[],
  parts: DiskParts,
): Promise<ReadonlyMap<string, Ref>> {
  const restored = new Map<string, Ref>();
  const waiting = disks.values();
  const worker = async () => {
    for (const disk of waiting)
      restored.set(disk.name, await restoreOne(disk, parts));
  };
  const workers = Array.from({ length: MAX_CONCURRENT }, worker);
  const results = await Promise.allSettled(workers);
  // Nothing is deleted while another disk is still being written.
  for (const result of results)
    if (result.status === "rejected") throw result.reason;
  return restored;
}

async function restoreOne(
  disk: RestorePlanDisk,
  parts: DiskParts,
): Promise<Ref> {
  const { xapi, vm, journal, task, upload, rollback } = parts;
  task.signal.throwIfAborted();
  const known = journal.disk(disk.name);
  if (journal.isResumed) await dropUploads(xapi, disk.name, task.wholeTaskId);
  if (known?.isWhole === true && (await exists(xapi, "VDI", known.vdi))) {
    addDisk(rollback, known.vdi);
    return known.vdi;
  }
  // An incomplete disk is created again, because a clone may contain parts of both contents.
  if (known !== undefined) await dropDisk(xapi, known.vdi);
  if (journal.isResumed) await dropUnattached(xapi, vm, disk.label);
  const base = await parts.baseOf(disk);
  const vdi =
    base === undefined
      ? await createEmpty(disk, parts)
      : await clone(disk, base, parts);
  if (parts.attaches) await attach(xapi, { vm, vdi, disk });
  await journal.writeDisk(disk.name, { vdi, isWhole: false });
  await task.part(`Disk ${disk.label || disk.name}`, (part) =>
    upload(disk, { vdi, base: base?.backup }, part),
  );
  await journal.writeDisk(disk.name, { vdi, isWhole: true });
  return vdi;
}

function createEmpty(
  { name, size, label, description }: RestorePlanDisk,
  { xapi, vm, srOf, rollback }: DiskParts,
): Promise<Ref> {
  const disk = { sr: srOf(name), size, name: label, description, vm };
  return createDisk(xapi, disk, rollback);
}

async function clone(
  { label, description }: RestorePlanDisk,
  { vdi }: DiskBase,
  { xapi, vm, rollback }: DiskParts,
): Promise<Ref> {
  const copy = (await xapi.callAsync("VDI.clone", [vdi, {}])) as Ref;
  addDisk(rollback, copy);
  await xapi.call("VDI.set_name_label", [copy, label]);
  await xapi.call("VDI.set_name_description", [copy, description]);
  // The copy must not have the marks of the snapshot.
  await xapi.call("VDI.set_other_config", [copy, { [CREATED_FOR]: vm }]);
  return copy;
}

function addDisk(rollback: Rollback, vdi: Ref): void {
  rollback.add(`disk ${vdi}`, (cleanupXapi) =>
    retryWhileInUse(() => cleanupXapi.callAsync("VDI.destroy", [vdi])),
  );
}

/** Creates the VBD of a restored disk, at the position and in the mode of the backup. */
export async function attach(
  xapi: Xapi,
  {
    vm,
    vdi,
    disk,
  }: { readonly vm: Ref; readonly vdi: Ref; readonly disk: RestorePlanDisk },
): Promise<void> {
  await createVbd(xapi, {
    vm,
    vdi,
    position: disk.userdevice === "" ? undefined : disk.userdevice,
    bootable: disk.bootable,
    mode: disk.mode,
  });
}

/** Deletes a disk with its VBDs, if it still exists. An upload that has just ended may still use it. */
export async function dropDisk(xapi: Xapi, vdi: Ref): Promise<void> {
  try {
    await retryWhileInUse(async () => {
      const vbds = (await xapi.call("VDI.get_VBDs", [vdi])) as readonly Ref[];
      for (const vbd of vbds)
        // That of the control domain, through which data is written.
        if ((await xapi.call("VBD.get_currently_attached", [vbd])) !== true)
          await xapi.callAsync("VBD.destroy", [vbd]);
      await xapi.callAsync("VDI.destroy", [vdi]);
    });
  } catch (error) {
    if (!isHandleInvalid(error)) throw error;
  }
}

/** Deletes disks that the previous run created for the VM and did not attach. */
export async function dropUnattached(
  xapi: Xapi,
  vm: Ref,
  label: string,
): Promise<void> {
  const found = await xapi.call("VDI.get_by_name_label", [label]);
  for (const vdi of found as readonly Ref[]) {
    const { other_config, VBDs } = (await xapi.call("VDI.get_record", [
      vdi,
    ])) as {
      readonly other_config: Readonly<Record<string, string>>;
      readonly VBDs: readonly Ref[];
    };
    if (other_config[CREATED_FOR] === vm && VBDs.length === 0)
      await xapi.callAsync("VDI.destroy", [vdi]);
  }
}

/** Whether a reference is valid. @throws XapiError other than HANDLE_INVALID */
export async function exists(
  xapi: Xapi,
  className: string,
  ref: Ref,
): Promise<boolean> {
  try {
    await xapi.call(`${className}.get_uuid`, [ref]);
    return true;
  } catch (error) {
    if (isHandleInvalid(error)) return false;
    throw error;
  }
}
