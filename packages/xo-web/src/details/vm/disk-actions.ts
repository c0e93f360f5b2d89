import { HardDrive, Link, Trash2 } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import { ownAction } from "../own-action.js";
import { plugActions } from "./plug-actions.js";

const GIB = 2 ** 30;

/** Actions on a VBD. */
export const vbdActions: readonly Action[] = [
  ...plugActions("VBD", "vbd"),
  ownAction({
    types: ["VBD"],
    id: "vbd.delete",
    group: "danger",
    icon: Trash2,
    label: (text) => text.vm.actions.detach,
    formOf: (_, { text }) => ({ lead: text.vm.leads.detach }),
    operation: () => ({ method: "vbd.delete" }),
    undo: (objects) =>
      objects.flatMap((vbd) => {
        const { VM, VDI, bootable, position } = vbd;
        if (typeof VM !== "string" || typeof VDI !== "string") return [];
        const params = {
          vdi: VDI,
          bootable: bootable === true,
          position: typeof position === "string" ? position : "",
        };
        const order = { method: "vm.attachDisk", idParameter: "vm", params };
        return [{ operation: order, objects: [{ id: VM, type: "VM" }] }];
      }),
  }),
];

const machine = { types: ["VM", "VM-template"], group: "work" } as const;

export const newDisk = ownAction({
  ...machine,
  id: "vm.newDisk",
  icon: HardDrive,
  isForOne: true,
  label: (text) => text.vm.actions.newDisk,
  formOf: ([vm], { text, formats }) => ({
    fields: [
      { kind: "text", id: "name", label: text.actions.fields.name },
      {
        kind: "size",
        id: "size",
        initial: 10 * GIB,
        least: 2 ** 20,
        label: text.actions.fields.size,
      },
      {
        kind: "object",
        id: "sr",
        type: "SR",
        label: text.actions.fields.sr,
        filter: `$pool:${vm?.$pool ?? ""} !SR_type:|(iso udev)`,
        defaultOf: vm?.$pool,
        fields: ["id", "name_label", "size", "physical_usage"],
        more: ({ size, physical_usage }) =>
          text.actions.free.replace(
            "{size}",
            formats.size(Number(size ?? 0) - Number(physical_usage ?? 0)),
          ),
      },
      { kind: "check", id: "bootable", label: text.vm.columns.bootable },
    ],
    button: text.vm.create,
  }),
  operation: (_, { name, size, sr, bootable }) => ({
    method: "disk.create",
    idParameter: "vm",
    params: {
      name: name ?? "",
      size: size ?? 0,
      sr: sr ?? "",
      bootable: bootable === true,
    },
  }),
});

export const attachDisk = ownAction({
  ...machine,
  id: "vm.attachDisk",
  icon: Link,
  isForOne: true,
  label: (text) => text.vm.actions.attachDisk,
  formOf: ([vm], { text, formats }) => ({
    fields: [
      {
        kind: "object",
        id: "vdi",
        type: "VDI",
        label: text.vm.disk,
        hint: text.vm.freeDisks,
        filter: `$pool:${vm?.$pool ?? ""} VDI_type:user !$VBDs:*`,
        // Images in ISO libraries are inserted into the CD drive instead.
        srFilter: "content_type:!iso",
        fields: ["id", "name_label", "size"],
        more: ({ size }) => formats.size(Number(size ?? 0)),
      },
      { kind: "check", id: "bootable", label: text.vm.columns.bootable },
      { kind: "check", id: "isReadOnly", label: text.vm.readOnly },
    ],
    button: text.vm.attach,
  }),
  operation: (_, { vdi, bootable, isReadOnly }) => ({
    method: "vm.attachDisk",
    idParameter: "vm",
    params: {
      vdi: vdi ?? "",
      bootable: bootable === true,
      mode: isReadOnly === true ? "RO" : "RW",
    },
  }),
});
