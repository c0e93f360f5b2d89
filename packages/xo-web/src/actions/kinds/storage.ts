import {
  Cable,
  Construction,
  Download,
  Eraser,
  FileUp,
  HardDrive,
  MoveRight,
  Plug,
  Scaling,
  Search,
  Star,
  Trash2,
  Unplug,
  Upload,
} from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, nameOf, type Action } from "../plan/action.js";
import { fetchContent } from "../plan/fetch-content.js";

const sr = { types: ["SR"] } as const;
const vdi = { types: ["VDI"] } as const;

/** SRs and their disks. */
export const storageActions: readonly Action[] = [
  defineAction({
    ...sr,
    group: "work",
    isPrimary: true,
    id: "sr.createDisk",
    icon: HardDrive,
    isForOne: true,
    refusalOf: ({ content_type }, text) =>
      content_type === "iso" ? text.actions.reasons.isoSr : undefined,
    formOf: (_, { text }) => ({
      fields: [
        { kind: "text", id: "name", label: text.actions.fields.name },
        {
          kind: "size",
          id: "size",
          initial: 10 * 2 ** 30,
          least: 2 ** 20,
          label: text.actions.fields.size,
        },
      ],
    }),
    operation: (_, { name = null, size = null }) => ({
      method: "disk.create",
      idParameter: "sr",
      params: { name, size },
    }),
    undo: (_, results) =>
      typeof results?.[0] === "string"
        ? [
            {
              operation: { method: "vdi.delete" },
              objects: [{ id: results[0], type: "VDI" }],
            },
          ]
        : undefined,
  }),
  defineAction({
    ...sr,
    group: "work",
    isPrimary: true,
    id: "sr.scan",
    icon: Search,
    operation: () => ({ method: "sr.scan" }),
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.importDisk",
    needs: { method: "disk.import", idParameter: "sr" },
    icon: Upload,
    isForOne: true,
    dialog: () => import("../dialogs/ImportDialog.vue"),
    createdType: "VDI",
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.setDefault",
    icon: Star,
    isForOne: true,
    refusalOf: ({ content_type }, text) =>
      content_type === "iso" ? text.actions.reasons.isoSr : undefined,
    operation: () => ({ method: "pool.setDefaultSr", idParameter: "sr" }),
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.reclaim",
    icon: Eraser,
    operation: () => ({ method: "sr.reclaimSpace" }),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.connect",
    icon: Plug,
    operation: () => ({ method: "sr.connectAllPbds" }),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.disconnect",
    isDisruptive: true,
    icon: Unplug,
    formOf: (_, { text }) => ({ lead: text.actions.leads.disconnect }),
    operation: () => ({ method: "sr.disconnectAllPbds" }),
    undo: (objects) => [
      { operation: { method: "sr.connectAllPbds" }, objects },
    ],
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.maintenance",
    needs: { method: "sr.enableMaintenanceMode" },
    icon: Construction,
    isForOne: true,
    refusalOf: ({ inMaintenanceMode }, text) =>
      inMaintenanceMode === true
        ? text.actions.reasons.inMaintenance
        : undefined,
    dialog: () => import("../dialogs/SrMaintenanceDialog.vue"),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.leaveMaintenance",
    icon: Cable,
    isForOne: true,
    refusalOf: ({ inMaintenanceMode }, text) =>
      inMaintenanceMode === false
        ? text.actions.reasons.notInMaintenance
        : undefined,
    operation: () => ({ method: "sr.disableMaintenanceMode" }),
  }),
  ...(["sr.forget", "sr.destroy"] as const).map((id) =>
    defineAction({
      ...sr,
      id,
      group: "danger",
      tone: "danger",
      isForOne: true,
      icon: Trash2,
      refusalOf: ({ VDIs }, text) =>
        id === "sr.destroy" && Array.isArray(VDIs) && VDIs.length > 0
          ? text.actions.reasons.hasDisks
          : undefined,
      formOf: ([object], { text }) => ({
        lead: text.actions.leads[id],
        ...(object === undefined ? {} : { typed: nameOf(object) }),
      }),
      operation: () => ({ method: id }),
    }),
  ),
  defineAction({
    ...vdi,
    group: "change",
    isPrimary: true,
    id: "vdi.resize",
    icon: Scaling,
    isForOne: true,
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.resize,
      fields: [
        {
          kind: "size",
          id: "size",
          label: text.actions.fields.size,
          ...sizeOf(object),
        },
      ],
    }),
    operation: (_, { size = null }) => ({
      method: "vdi.set",
      params: { size },
    }),
  }),
  defineAction({
    ...vdi,
    group: "work",
    isPrimary: true,
    id: "vdi.migrate",
    icon: MoveRight,
    formOf: ([object], { text, formats }) => ({
      fields: [
        {
          kind: "object",
          id: "sr_id",
          type: "SR",
          label: text.actions.fields.sr,
          filter: `$pool:"${object?.$pool ?? ""}" !SR_type:|(iso udev)`,
          fields: ["id", "name_label", "size", "physical_usage"],
          more: ({ size, physical_usage }) =>
            text.actions.free.replace(
              "{size}",
              formats.size(Number(size ?? 0) - Number(physical_usage ?? 0)),
            ),
        },
      ],
    }),
    operation: (_, { sr_id = null }) => ({
      method: "vdi.migrate",
      params: { sr_id },
    }),
  }),
  defineAction({
    types: ["VDI", "VDI-snapshot"],
    group: "work",
    id: "vdi.export",
    icon: Download,
    isForOne: true,
    formOf: (_, { text }) => ({
      fields: [
        {
          kind: "choice",
          id: "format",
          initial: "vhd",
          label: text.actions.fields.format,
          options: [
            { id: "vhd", label: "VHD" },
            { id: "raw", label: "raw" },
            { id: "qcow2", label: "qcow2 (QEMU)" },
            { id: "vmdk", label: "VMDK (VMware)" },
          ],
        },
      ],
    }),
    operation: (_, { format = null }) => ({
      method: "disk.exportContent",
      params: { format },
    }),
    onResult: fetchContent,
  }),
  defineAction({
    ...vdi,
    group: "danger",
    tone: "danger",
    id: "vdi.overwrite",
    needs: { method: "disk.importContent" },
    icon: FileUp,
    isForOne: true,
    dialog: () => import("../dialogs/UploadDialog.vue"),
  }),
  defineAction({
    types: ["VDI", "VDI-snapshot"],
    group: "danger",
    id: "vdi.delete",
    icon: Trash2,
    tone: "danger",
    formOf: ([object, ...more], { text }) => ({
      lead: text.actions.leads.deleteDisk,
      ...(object === undefined || more.length > 0
        ? {}
        : { typed: nameOf(object) }),
    }),
    operation: () => ({ method: "vdi.delete" }),
  }),
];

function sizeOf(object: ObjectRow | undefined): {
  initial?: number;
  least?: number;
} {
  const size = object?.["size"];
  return typeof size === "number" ? { initial: size, least: size } : {};
}
