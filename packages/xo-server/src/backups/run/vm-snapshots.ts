import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { retryWhileInUse } from "../../transfers/retry-while-in-use.js";
import { destroyVm } from "../../vms/destroy-vm.js";
import { ignoreInvalidHandle, isHandleInvalid } from "../../vms/rollback.js";
import type { SnapshotMode } from "../jobs/settings.js";
import { readMarks, runOfName, withMarks, type Marks } from "./marks.js";
import {
  mapOf,
  read,
  readAll,
  refsOf,
  textOf,
  type XapiRecord,
} from "./xapi-objects.js";

/** A snapshot that a backup has taken of a VM. */
export interface BackupSnapshot {
  readonly ref: Ref;
  readonly uuid: string;
  readonly run: string;
  /** Absent: the server stopped before the snapshot was marked. */
  readonly marks?: Marks;
}

/** A disk of a snapshot, and its marks. */
export interface SnapshotDisk {
  readonly ref: Ref;
  readonly uuid: string;
  /** The disk that it is a snapshot of. */
  readonly of: Ref;
  readonly record: XapiRecord;
  readonly marks?: Marks;
}

/** @returns the reference of the snapshot */
export async function createSnapshot(
  xapi: Xapi,
  vm: Ref,
  how: {
    readonly name: string;
    readonly mode: SnapshotMode;
    readonly ignored: readonly Ref[];
  },
): Promise<Ref> {
  const { name, mode, ignored } = how;
  if (mode !== "memory")
    return (await xapi.callAsync("VM.snapshot", [vm, name, ignored])) as Ref;
  if (ignored.length > 0)
    throw new XoError("BACKUP_REFUSED", {
      vm,
      reason:
        "a snapshot with memory includes all disks, and some are excluded",
    });
  return (await xapi.callAsync("VM.checkpoint", [vm, name])) as Ref;
}

/** All snapshots of a VM that backups have taken, oldest first. */
export async function listSnapshots(
  xapi: Xapi,
  vm: Ref,
): Promise<BackupSnapshot[]> {
  const refs = refsOf(await read(xapi, "VM", vm), "snapshots");
  const found: BackupSnapshot[] = [];
  for (const ref of refs) {
    const record = await readIfThere(xapi, "VM", ref);
    if (record === undefined) continue;
    const uuid = textOf(record, "uuid");
    const marks = readMarks(mapOf(record, "other_config"), uuid);
    const run = marks?.run ?? runOfName(textOf(record, "name_label"));
    if (run === undefined) continue;
    found.push({ ref, uuid, run, ...(marks === undefined ? {} : { marks }) });
  }
  return found.toSorted((a, b) => (a.marks?.time ?? 0) - (b.marks?.time ?? 0));
}

/** Disks of a snapshot. */
export async function readSnapshotDisks(
  xapi: Xapi,
  snapshot: Ref,
): Promise<SnapshotDisk[]> {
  const record = await read(xapi, "VM", snapshot);
  const vbds = await readAll(xapi, "VBD", refsOf(record, "VBDs"));
  const vdis = await readAll(
    xapi,
    "VDI",
    [...vbds.values()]
      .filter((vbd) => vbd["type"] !== "CD")
      .map((vbd) => textOf(vbd, "VDI")),
  );
  return Array.from(vdis, ([ref, vdi]) => toSnapshotDisk(ref, vdi)).filter(
    ({ record }) => record["is_a_snapshot"] === true,
  );
}

/** Snapshots of a disk that backups have taken, also those without data or without a VM. */
export async function listDiskSnapshots(
  xapi: Xapi,
  vdi: Ref,
): Promise<SnapshotDisk[]> {
  const refs = refsOf(await read(xapi, "VDI", vdi), "snapshots");
  const found: SnapshotDisk[] = [];
  for (const ref of refs) {
    const record = await readIfThere(xapi, "VDI", ref);
    if (record === undefined) continue;
    const disk = toSnapshotDisk(ref, record);
    if (disk.marks !== undefined) found.push(disk);
  }
  return found;
}

/** A VDI snapshot with the marks of the backup that took it, if one did. */
function toSnapshotDisk(ref: Ref, record: XapiRecord): SnapshotDisk {
  const uuid = textOf(record, "uuid");
  const marks = readMarks(mapOf(record, "other_config"), uuid);
  return {
    ref,
    uuid,
    of: textOf(record, "snapshot_of"),
    record,
    ...(marks === undefined ? {} : { marks }),
  };
}

/** Marks a snapshot and its disks. */
export async function markSnapshot(
  xapi: Xapi,
  snapshot: Ref,
  marks: Marks,
): Promise<void> {
  for (const { ref, record } of await readSnapshotDisks(xapi, snapshot))
    await mark(xapi, { className: "VDI", ref, record }, marks);
  const record = await read(xapi, "VM", snapshot);
  await mark(xapi, { className: "VM", ref: snapshot, record }, marks);
}

async function mark(
  xapi: Xapi,
  object: {
    readonly className: "VM" | "VDI";
    readonly ref: Ref;
    readonly record: XapiRecord;
  },
  marks: Marks,
): Promise<void> {
  const { className, ref, record } = object;
  const config = mapOf(record, "other_config");
  const marked = withMarks(config, textOf(record, "uuid"), marks);
  await xapi.call(`${className}.set_other_config`, [ref, marked]);
}

/** Deletes a snapshot with its disks, if it still exists. @throws XapiError, XoError LEFT_BEHIND */
export async function deleteSnapshot(xapi: Xapi, ref: Ref): Promise<void> {
  const destroy = () =>
    destroyVm(xapi, ref, {
      deleteDisks: true,
      bypassBlock: true,
      evenDefaultTemplate: false,
    });
  await ignoreInvalidHandle(retryWhileInUse(destroy));
}

/** Deletes a disk, if it still exists. @throws XapiError */
export async function deleteDisk(xapi: Xapi, ref: Ref): Promise<void> {
  await ignoreInvalidHandle(
    retryWhileInUse(() => xapi.callAsync("VDI.destroy", [ref])),
  );
}

/**
 * Deletes the data of a snapshot, but keeps its changed block tracking data.
 * @throws XapiError
 */
export async function destroySnapshotData(
  xapi: Xapi,
  snapshot: Ref,
): Promise<void> {
  const disks = await readSnapshotDisks(xapi, snapshot);
  await ignoreInvalidHandle(
    retryWhileInUse(() => xapi.callAsync("VM.destroy", [snapshot])),
  );
  for (const disk of disks) await destroyDiskData(xapi, disk);
}

/** Does so for a disk of a deleted snapshot; one without tracking data is deleted. @throws XapiError */
export async function destroyDiskData(
  xapi: Xapi,
  { ref, record }: Pick<SnapshotDisk, "ref" | "record">,
): Promise<void> {
  if (record["cbt_enabled"] !== true) await deleteDisk(xapi, ref);
  else if (record["type"] !== "cbt_metadata")
    await retryWhileInUse(() => xapi.callAsync("VDI.data_destroy", [ref]));
}

/** @returns undefined: it was deleted. @throws XapiError */
export async function readIfThere(
  xapi: Xapi,
  className: string,
  ref: Ref,
): Promise<XapiRecord | undefined> {
  try {
    return await read(xapi, className, ref);
  } catch (error) {
    if (isHandleInvalid(error)) return undefined;
    throw error;
  }
}
