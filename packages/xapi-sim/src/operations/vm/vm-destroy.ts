import { NULL_REF } from "@xo-server/model";
import type { CallContext } from "../../operation.js";
import { flag, refIn, refs, text } from "../../records/fields.js";
import { deleteContents } from "../storage/disk-data.js";
import { refreshVdi } from "../effects/refresh.js";
import { takeSpace } from "../storage/sr-space.js";
import { removeVdi } from "../storage/vdi.js";
import { removeVtpm } from "./vtpms.js";

/** The VM with its suspend image, metrics, VBDs, VIFs, VTPMs and consoles. Its disks stay, as in XAPI. */
export function destroyVm(context: CallContext, ref: string): void {
  const { db } = context;
  dropSuspendImage(context, ref);
  const vm = db.get("VM", ref);
  const disks = refs(vm, "VBDs").map((vbd) => text(db.get("VBD", vbd), "VDI"));
  for (const [className, field] of parts)
    for (const part of refs(vm, field)) db.destroy(className, part);
  for (const vtpm of refs(vm, "VTPMs")) removeVtpm(context, vtpm);
  for (const child of refs(vm, "children"))
    db.update("VM", child, { parent: text(vm, "parent") });
  db.destroy("VM", ref);
  for (const [className, field] of metrics) {
    const part = refIn(vm, field);
    if (part !== undefined && db.find(className, part) !== undefined)
      db.destroy(className, part);
  }
  for (const disk of disks) refreshVdi(db, disk);
}

const parts = [
  ["VBD", "VBDs"],
  ["VIF", "VIFs"],
  ["VUSB", "VUSBs"],
  ["VGPU", "VGPUs"],
  ["console", "consoles"],
] as const;

const metrics = [
  ["VM_metrics", "metrics"],
  ["VM_guest_metrics", "guest_metrics"],
] as const;

/** The image of a suspended VM's memory, unless a VM has it as a disk. */
export function dropSuspendImage({ db, state }: CallContext, vm: string): void {
  const image = refIn(db.get("VM", vm), "suspend_VDI");
  if (image === undefined) return;
  db.update("VM", vm, { suspend_VDI: NULL_REF });
  if (
    db.find("VDI", image) === undefined ||
    refs(db.get("VDI", image), "VBDs").length > 0
  )
    return;
  const { SR, physical_utilisation } = db.get("VDI", image);
  if (db.find("SR", SR as string) !== undefined)
    takeSpace({ db }, SR as string, -Number(physical_utilisation));
  deleteContents({ db, state }, image);
  db.destroy("VDI", image);
}

/** The VM's disks and interfaces, to make room for those of a snapshot. Images in its CD drives stay. */
export function destroyDevices(context: CallContext, ref: string): void {
  const { db } = context;
  const vm = db.get("VM", ref);
  for (const vif of refs(vm, "VIFs")) db.destroy("VIF", vif);
  for (const vbd of refs(vm, "VBDs")) {
    const record = db.get("VBD", vbd);
    const vdi = refIn(record, "VDI");
    db.destroy("VBD", vbd);
    if (vdi === undefined || text(record, "type") === "CD") continue;
    const disk = db.get("VDI", vdi);
    if (flag(disk, "sharable") || refs(disk, "VBDs").length > 0) continue;
    removeVdi(context, vdi, { freesSpace: true });
  }
}
