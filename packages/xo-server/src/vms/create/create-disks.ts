import { XoError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { Rollback } from "../rollback.js";
import { createDisk, createVbd } from "../drives/new-vbds.js";
import { disksOf, readVbds, readRecord, type Vbd } from "../xapi-records.js";

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
  context: NewDiskContext,
  specs: readonly ResolvedDiskSpec[],
): Promise<void> {
  const { VBDs } = await readRecord(context.xapi, "VM", context.vm);
  const disks = disksOf(await readVbds(context.xapi, VBDs));
  for (const [index, spec] of specs.entries()) {
    const vbd =
      spec.position === undefined
        ? undefined
        : disks.find(({ userdevice }) => userdevice === spec.position);
    const isFirst = index === 0 && disks.length === 0;
    if (vbd !== undefined) await changeDisk(context, vbd, spec);
    else if (!spec.destroy) await addDisk(context, spec, isFirst);
  }
}

/** @param vm name of the VM */
export function labelOf(
  { name, position }: Pick<ResolvedDiskSpec, "name" | "position">,
  vm: string,
): string {
  return name ?? `${vm}_${position ?? "disk"}`;
}

async function addDisk(
  { xapi, vm, name, defaultSr, rollback }: NewDiskContext,
  spec: ResolvedDiskSpec,
  bootable: boolean,
): Promise<void> {
  const { position, description, size = 0, sr = defaultSr } = spec;
  if (sr === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "a disk names no SR, and the pool has no default",
    });
  const disk = { sr, size, name: labelOf(spec, name), description, vm };
  const vdi = await createDisk(xapi, disk, rollback);
  await createVbd(xapi, { vm, vdi, position, bootable });
}

async function changeDisk(
  context: NewDiskContext,
  vbd: Vbd,
  spec: ResolvedDiskSpec,
): Promise<void> {
  const { xapi } = context;
  if (spec.destroy) return removeDisk(xapi, vbd);
  const { SR, virtual_size } = await readRecord(xapi, "VDI", vbd.VDI);
  const vdi =
    spec.sr === undefined || spec.sr === SR
      ? vbd.VDI
      : await moveDisk(context, vbd, spec.sr);
  if (spec.name !== undefined)
    await xapi.call("VDI.set_name_label", [vdi, spec.name]);
  if (spec.description !== undefined)
    await xapi.call("VDI.set_name_description", [vdi, spec.description]);
  if (spec.size !== undefined && spec.size > Number(virtual_size))
    await xapi.callAsync("VDI.resize", [vdi, String(spec.size)]);
}

/** XAPI only migrates disks of running VMs. This one is an unused clone, so it can be copied. */
async function moveDisk(
  { xapi, vm, rollback }: NewDiskContext,
  vbd: Vbd,
  sr: Ref,
): Promise<Ref> {
  const copy = (await xapi.callAsync("VDI.copy", [vbd.VDI, sr])) as Ref;
  rollback.add(`disk ${copy}`, (cleanupXapi) =>
    cleanupXapi.callAsync("VDI.destroy", [copy]),
  );
  await removeDisk(xapi, vbd);
  await createVbd(xapi, {
    vm,
    vdi: copy,
    position: vbd.userdevice,
    bootable: vbd.bootable,
    mode: vbd.mode === "RO" ? "RO" : "RW",
  });
  return copy;
}

async function removeDisk(xapi: Xapi, { ref, VDI }: Vbd): Promise<void> {
  await xapi.callAsync("VBD.destroy", [ref]);
  const { VBDs } = await readRecord(xapi, "VDI", VDI);
  if (VBDs.length === 0) await xapi.callAsync("VDI.destroy", [VDI]);
}
