import {
  Camera,
  Copy,
  Download,
  Layers,
  LayoutTemplate,
  MapPin,
  MoveRight,
  SlidersHorizontal,
  Trash2,
  Undo2,
} from "@lucide/vue";
import { defineAction, type Action } from "../plan/action.js";
import { fetchContent } from "../plan/fetch-content.js";
import { blocked, unlessState } from "./reasons.js";
import {
  copyFields,
  editFields,
  onlyOn,
  snapshotFields,
  toVmSettings,
} from "./vm-fields.js";

const vm = { types: ["VM"], group: "work" } as const;
const all = ["VM", "VM-template", "VM-snapshot"] as const;

/** Number of concurrent full copies, which compete for the same storage. */
const COPIES_AT_ONCE = 2;

/** Copies, clones, conversions and exports of VMs, templates and snapshots. */
export const vmWorkActions: readonly Action[] = [
  defineAction({
    ...vm,
    id: "vm.migrate",
    needs: { method: "vm.migrate", idParameter: "vm" },
    icon: MoveRight,
    isPrimary: true,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running", "Halted", "Suspended") ??
      (object["power_state"] === "Running"
        ? blocked(object, text, "pool_migrate")
        : undefined) ??
      blocked(object, text, "migrate_send"),
    dialog: () => import("../../migrate/MigrateDialog.vue"),
  }),
  defineAction({
    ...vm,
    id: "vm.edit",
    group: "change",
    icon: SlidersHorizontal,
    isForMany: true,
    formOf: (_, { text }) => ({
      lead: text.actions.edit.lead,
      fields: editFields(text),
    }),
    operation: (_, values) => ({
      method: "vm.set",
      params: toVmSettings(values),
    }),
  }),
  defineAction({
    ...vm,
    id: "vm.where",
    icon: MapPin,
    isForOne: true,
    run({ go }, [object]) {
      if (object !== undefined) go(`/vms/${object.id}/placement`);
    },
  }),
  defineAction({
    ...vm,
    id: "vm.snapshot",
    icon: Camera,
    isPrimary: true,
    refusalOf: (object, text) => blocked(object, text, "snapshot"),
    formOf: (objects, { text }) => ({ fields: snapshotFields(objects, text) }),
    operation: (_, values) => ({
      method: "vm.snapshot",
      params: onlyOn(values),
    }),
    undo: (_, results) =>
      typeof results?.[0] === "string"
        ? [
            {
              operation: { method: "vm.delete" },
              objects: [{ id: results[0], type: "VM-snapshot" }],
            },
          ]
        : undefined,
  }),
  defineAction({
    types: ["VM-snapshot"],
    group: "work",
    id: "snapshot.revert",
    icon: Undo2,
    isPrimary: true,
    isForOne: true,
    refusalOf: (object, text) => blocked(object, text, "revert"),
    formOf: (_, { text }) => ({
      lead: text.actions.leads.revert,
      fields: [
        {
          kind: "check",
          id: "snapshotBefore",
          initial: true,
          label: text.actions.fields.snapshotBefore,
        },
      ],
    }),
    operation: (_, values) => ({
      method: "vm.revert",
      idParameter: "snapshot",
      params: { snapshotBefore: values["snapshotBefore"] ?? false },
    }),
  }),
  defineAction({
    types: ["VM", "VM-snapshot"],
    group: "work",
    id: "vm.copy",
    icon: Copy,
    refusalOf: (object, text) => blocked(object, text, "clone"),
    createdType: "VM",
    formOf: (objects, { text, formats }) => ({
      fields: copyFields(objects, text, formats),
    }),
    operation: (_, { name, namePattern, kind, sr, compress }) => {
      const named = {
        ...(name === undefined ? {} : { name }),
        ...(namePattern === undefined ? {} : { namePattern }),
      };
      if (kind === "elsewhere") {
        // Without an SR the server refuses: the user has chosen a copy elsewhere.
        const target = sr === undefined ? {} : { sr };
        const params = { ...named, ...target, compress: compress ?? "" };
        const concurrency = COPIES_AT_ONCE;
        return { method: "vm.copy", idParameter: "vm", params, concurrency };
      }
      const params = { ...named, full_copy: kind === "full" };
      return kind === "full"
        ? { method: "vm.clone", params, concurrency: COPIES_AT_ONCE }
        : { method: "vm.clone", params };
    },
  }),
  defineAction({
    types: all,
    group: "work",
    id: "vm.export",
    icon: Download,
    isInTurn: true,
    refusalOf: (object, text) => blocked(object, text, "export"),
    formOf: (objects, { text }) => ({
      ...(objects.length > 1 && { lead: text.actions.leads.exportSeveral }),
      fields: [
        {
          kind: "choice",
          id: "compress",
          initial: "zstd",
          label: text.actions.fields.compression,
          options: [
            { id: "", label: text.ui.none },
            { id: "zstd", label: "zstd" },
            { id: "gzip", label: "gzip" },
          ],
        },
      ],
    }),
    operation: (_, { compress }) => ({
      method: "vm.export",
      params: { compress: compress ?? "" },
    }),
    onResult: fetchContent,
  }),
  defineAction({
    ...vm,
    group: "change",
    id: "vm.coalesce",
    icon: Layers,
    isDisruptive: true,
    refusalOf: (object, text) =>
      unlessState(object, text, "Running", "Halted") ??
      blocked(object, text, "suspend"),
    formOf: (_, { text }) => ({ lead: text.actions.leads.coalesce }),
    operation: () => ({ method: "vm.coalesceLeaf" }),
  }),
  defineAction({
    ...vm,
    id: "vm.toTemplate",
    icon: LayoutTemplate,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted") ??
      blocked(object, text, "make_into_template"),
    formOf: (_, { text }) => ({ lead: text.actions.leads.toTemplate }),
    operation: () => ({ method: "vm.convertToTemplate" }),
    undo: (objects) => [
      { operation: { method: "vm.convertFromTemplate" }, objects },
    ],
  }),
  defineAction({
    types: all,
    group: "danger",
    id: "vm.delete",
    needs: { method: "vm.delete" },
    icon: Trash2,
    tone: "danger",
    refusalOf: (object, text) =>
      object["isDefaultTemplate"] === true
        ? text.actions.reasons.defaultTemplate
        : blocked(object, text, "destroy"),
    dialog: () => import("../dialogs/DeleteVmDialog.vue"),
  }),
];
