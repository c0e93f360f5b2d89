import {
  Cable,
  Construction,
  Download,
  Eraser,
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
import type { ObjectRow } from "../../objects/object-row.js";
import { defineAction, nameOf, type Action } from "../action.js";
import { fetchContent } from "../fetch-content.js";

const sr = { types: ["SR"] } as const;
const vdi = { types: ["VDI"] } as const;

/** Storage and the disks on it. */
export const storageActions: readonly Action[] = [
  defineAction({
    ...sr,
    group: "work",
    isPrimary: true,
    id: "sr.createDisk",
    icon: HardDrive,
    isForOne: true,
    cannot: ({ content_type }, text) =>
      content_type === "iso" ? text.actions.reasons.isoSr : undefined,
    ask: (_, { text }) => ({
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
    order: (_, { name = null, size = null }) => ({
      method: "disk.create",
      idParameter: "sr",
      params: { name, size },
    }),
    undo: (_, results) =>
      typeof results?.[0] === "string"
        ? [
            {
              order: { method: "vdi.delete" },
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
    order: () => ({ method: "sr.scan" }),
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.importDisk",
    icon: Upload,
    isForOne: true,
    form: () => import("../ImportDialog.vue"),
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.setDefault",
    icon: Star,
    isForOne: true,
    cannot: ({ content_type }, text) =>
      content_type === "iso" ? text.actions.reasons.isoSr : undefined,
    order: () => ({ method: "pool.setDefaultSr", idParameter: "sr" }),
  }),
  defineAction({
    ...sr,
    group: "work",
    id: "sr.reclaim",
    icon: Eraser,
    order: () => ({ method: "sr.reclaimSpace" }),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.connect",
    icon: Plug,
    order: () => ({ method: "sr.connectAllPbds" }),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.disconnect",
    icon: Unplug,
    ask: (_, { text }) => ({ lead: text.actions.leads.disconnect }),
    order: () => ({ method: "sr.disconnectAllPbds" }),
    undo: (objects) => [{ order: { method: "sr.connectAllPbds" }, objects }],
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.maintenance",
    icon: Construction,
    isForOne: true,
    cannot: ({ inMaintenanceMode }, text) =>
      inMaintenanceMode === true
        ? text.actions.reasons.inMaintenance
        : undefined,
    form: () => import("../SrMaintenanceDialog.vue"),
  }),
  defineAction({
    ...sr,
    group: "change",
    id: "sr.leaveMaintenance",
    icon: Cable,
    isForOne: true,
    cannot: ({ inMaintenanceMode }, text) =>
      inMaintenanceMode === false
        ? text.actions.reasons.notInMaintenance
        : undefined,
    order: () => ({ method: "sr.disableMaintenanceMode" }),
  }),
  ...(["sr.forget", "sr.destroy"] as const).map((id) =>
    defineAction({
      ...sr,
      id,
      group: "danger",
      tone: "danger",
      isForOne: true,
      icon: Trash2,
      cannot: ({ VDIs }, text) =>
        id === "sr.destroy" && Array.isArray(VDIs) && VDIs.length > 0
          ? text.actions.reasons.hasDisks
          : undefined,
      ask: ([object], { text }) => ({
        lead: text.actions.leads[id],
        ...(object === undefined ? {} : { typed: nameOf(object) }),
      }),
      order: () => ({ method: id }),
    }),
  ),
  defineAction({
    ...vdi,
    group: "change",
    isPrimary: true,
    id: "vdi.resize",
    icon: Scaling,
    isForOne: true,
    ask: ([object], { text }) => ({
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
    order: (_, { size = null }) => ({ method: "vdi.set", params: { size } }),
  }),
  defineAction({
    ...vdi,
    group: "work",
    isPrimary: true,
    id: "vdi.migrate",
    icon: MoveRight,
    ask: ([object], { text, formats }) => ({
      fields: [
        {
          kind: "object",
          id: "sr_id",
          type: "SR",
          label: text.actions.fields.sr,
          filter: `$pool:"${object?.$pool ?? ""}" content_type:!iso`,
          fields: ["id", "name_label", "size", "physical_usage"],
          more: ({ size, physical_usage }) =>
            text.actions.free.replace(
              "{size}",
              formats.size(Number(size ?? 0) - Number(physical_usage ?? 0)),
            ),
        },
      ],
    }),
    order: (_, { sr_id = null }) => ({
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
    ask: (_, { text }) => ({
      fields: [
        {
          kind: "choice",
          id: "format",
          initial: "vhd",
          label: text.actions.fields.format,
          options: [
            { id: "vhd", label: "VHD" },
            { id: "raw", label: "raw" },
          ],
        },
      ],
    }),
    order: (_, { format = null }) => ({
      method: "disk.exportContent",
      params: { format },
    }),
    after: fetchContent,
  }),
  defineAction({
    types: ["VDI", "VDI-snapshot"],
    group: "danger",
    id: "vdi.delete",
    icon: Trash2,
    tone: "danger",
    ask: ([object, ...more], { text }) => ({
      lead: text.actions.leads.deleteDisk,
      ...(object === undefined || more.length > 0
        ? {}
        : { typed: nameOf(object) }),
    }),
    order: () => ({ method: "vdi.delete" }),
  }),
];

function sizeOf(object: ObjectRow | undefined): {
  initial?: number;
  least?: number;
} {
  const size = object?.["size"];
  return typeof size === "number" ? { initial: size, least: size } : {};
}
