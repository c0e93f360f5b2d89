import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Rollback } from "./rollback.js";
import { createDisk, createDrive } from "./new-drives.js";
import { disksOf, readDrives, readRecord, type Drive } from "./xapi-records.js";

/** A DiskSpec whose SR is an opaque reference. */
export interface ResolvedDiskSpec {
  readonly position: string | undefined;
  readonly destroy: boolean;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly size: number | undefined;
  readonly sr: Ref | undefined;
}

/** The new, halted VM, and the SR of disks without one. */
export interface NewDiskContext {
  readonly xapi: Xapi;
  readonly vm: Ref;
  readonly name: string;
  readonly defaultSr: Ref | undefined;
  readonly rollback: Rollback;
}

/** Creates, changes and deletes disks of a new VM as specified. */
export async function createDisks(
  place: NewDiskContext,
  specs: readonly ResolvedDiskSpec[],
): Promise<void> {
  const { VBDs } = await readRecord(place.xapi, "VM", place.vm);
  const disks = disksOf(await readDrives(place.xapi, VBDs));
  for (const [index, spec] of specs.entries()) {
    const drive =
      spec.position === undefined
        ? undefined
        : disks.find(({ userdevice }) => userdevice === spec.position);
    const isFirst = index === 0 && disks.length === 0;
    if (drive !== undefined) await changeDisk(place, drive, spec);
    else if (!spec.destroy) await addDisk(place, spec, isFirst);
  }
}

/** @param vm its name */
export function labelOf(
  { name, position }: Pick<ResolvedDiskSpec, "name" | "position">,
  vm: string,
): string {
  return name ?? `${vm}_${position ?? "disk"}`;
}

async function addDisk(
  { xapi, vm, name, defaultSr, rollback: made }: NewDiskContext,
  spec: ResolvedDiskSpec,
  bootable: boolean,
): Promise<void> {
  const { position, description, size = 0, sr = defaultSr } = spec;
  if (sr === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "a disk names no SR, and the pool has no default",
    });
  const disk = { sr, size, name: labelOf(spec, name), description, vm };
  const vdi = await createDisk(xapi, disk, made);
  await createDrive(xapi, { vm, vdi, position, bootable });
}

async function changeDisk(
  place: NewDiskContext,
  drive: Drive,
  spec: ResolvedDiskSpec,
): Promise<void> {
  const { xapi } = place;
  if (spec.destroy) return removeDisk(xapi, drive);
  const { SR, virtual_size } = await readRecord(xapi, "VDI", drive.VDI);
  const vdi =
    spec.sr === undefined || spec.sr === SR
      ? drive.VDI
      : await moveDisk(place, drive, spec.sr);
  if (spec.name !== undefined)
    await xapi.call("VDI.set_name_label", [vdi, spec.name]);
  if (spec.description !== undefined)
    await xapi.call("VDI.set_name_description", [vdi, spec.description]);
  if (spec.size !== undefined && spec.size > Number(virtual_size))
    await xapi.callAsync("VDI.resize", [vdi, String(spec.size)]);
}

/** XAPI migrates only disks of running VMs; this one is an unused clone and can be copied. */
async function moveDisk(
  { xapi, vm, rollback: made }: NewDiskContext,
  drive: Drive,
  sr: Ref,
): Promise<Ref> {
  const copy = (await xapi.callAsync("VDI.copy", [drive.VDI, sr])) as Ref;
  made.add(`disk ${copy}`, (cleaner) =>
    cleaner.callAsync("VDI.destroy", [copy]),
  );
  await removeDisk(xapi, drive);
  await createDrive(xapi, {
    vm,
    vdi: copy,
    position: drive.userdevice,
    bootable: drive.bootable,
    mode: drive.mode === "RO" ? "RO" : "RW",
  });
  return copy;
}

async function removeDisk(xapi: Xapi, { ref, VDI }: Drive): Promise<void> {
  await xapi.callAsync("VBD.destroy", [ref]);
  const { VBDs } = await readRecord(xapi, "VDI", VDI);
  if (VBDs.length === 0) await xapi.callAsync("VDI.destroy", [VDI]);
}
