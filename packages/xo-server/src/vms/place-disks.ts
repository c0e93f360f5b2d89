import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Made } from "./made.js";
import { createDisk, createDrive } from "./new-drives.js";
import { disksOf, readDrives, readRecord, type Drive } from "./xapi-records.js";

/** See DiskWish; its SR as XAPI knows it. */
export interface PlacedDisk {
  readonly position: string | undefined;
  readonly destroy: boolean;
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly size: number | undefined;
  readonly sr: Ref | undefined;
}

/** The new VM, which does not run, and where disks go that name no SR. */
export interface DiskPlace {
  readonly xapi: Xapi;
  readonly vm: Ref;
  readonly name: string;
  readonly defaultSr: Ref | undefined;
  readonly made: Made;
}

/** Brings the disks of a new VM to what was wished. */
export async function placeDisks(
  place: DiskPlace,
  wishes: readonly PlacedDisk[],
): Promise<void> {
  const { VBDs } = await readRecord(place.xapi, "VM", place.vm);
  const disks = disksOf(await readDrives(place.xapi, VBDs));
  for (const [index, wish] of wishes.entries()) {
    const drive =
      wish.position === undefined
        ? undefined
        : disks.find(({ userdevice }) => userdevice === wish.position);
    const isFirst = index === 0 && disks.length === 0;
    if (drive !== undefined) await changeDisk(place, drive, wish);
    else if (!wish.destroy) await addDisk(place, wish, isFirst);
  }
}

/** @param vm its name */
export function labelOf(
  { name, position }: Pick<PlacedDisk, "name" | "position">,
  vm: string,
): string {
  return name ?? `${vm}_${position ?? "disk"}`;
}

async function addDisk(
  { xapi, vm, name, defaultSr, made }: DiskPlace,
  wish: PlacedDisk,
  bootable: boolean,
): Promise<void> {
  const { position, description, size = 0, sr = defaultSr } = wish;
  if (sr === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "a disk names no SR, and the pool has no default",
    });
  const disk = { sr, size, name: labelOf(wish, name), description, vm };
  const vdi = await createDisk(xapi, disk, made);
  await createDrive(xapi, { vm, vdi, position, bootable });
}

async function changeDisk(
  place: DiskPlace,
  drive: Drive,
  wish: PlacedDisk,
): Promise<void> {
  const { xapi } = place;
  if (wish.destroy) return removeDisk(xapi, drive);
  const { SR, virtual_size } = await readRecord(xapi, "VDI", drive.VDI);
  const vdi =
    wish.sr === undefined || wish.sr === SR
      ? drive.VDI
      : await moveDisk(place, drive, wish.sr);
  if (wish.name !== undefined)
    await xapi.call("VDI.set_name_label", [vdi, wish.name]);
  if (wish.description !== undefined)
    await xapi.call("VDI.set_name_description", [vdi, wish.description]);
  if (wish.size !== undefined && wish.size > Number(virtual_size))
    await xapi.callAsync("VDI.resize", [vdi, String(wish.size)]);
}

/** XAPI moves only disks of VMs that run; this one is a copy that nobody has written to yet. */
async function moveDisk(
  { xapi, vm, made }: DiskPlace,
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
