import { FileDown, ListChecks, PackagePlus } from "@lucide/vue";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { defineAction, type Action } from "../plan/action.js";
import { fetchContent } from "../plan/fetch-content.js";

const host = { types: ["host"], group: "work", isForOne: true } as const;

const unlessUp = (object: ObjectRow, text: Messages) =>
  (object["power_state"] ?? "Running") === "Running"
    ? undefined
    : text.actions.reasons.hostDown;

/** Updates and logs of hosts. */
export const hostCareActions: readonly Action[] = [
  defineAction({
    ...host,
    id: "host.installUpdates",
    // The right is that of the host; its parameter `hosts` is a list.
    needs: { method: "pool.installPatches", idParameter: "pool" },
    icon: PackagePlus,
    refusalOf: unlessUp,
    formOf: (_, { text }) => ({ lead: text.actions.leads.installUpdates }),
    operation: ({ id }) => ({
      method: "pool.installPatches",
      idParameter: "",
      params: { hosts: [id] },
    }),
  }),
  defineAction({
    ...host,
    id: "host.installPack",
    needs: { method: "host.installSupplementalPack", idParameter: "host" },
    icon: PackagePlus,
    refusalOf: unlessUp,
    dialog: () => import("../dialogs/UploadDialog.vue"),
  }),
  defineAction({
    ...host,
    id: "host.logs",
    icon: FileDown,
    refusalOf: unlessUp,
    operation: () => ({ method: "host.getLogs" }),
    onResult: fetchContent,
  }),
  defineAction({
    ...host,
    id: "host.auditLog",
    icon: ListChecks,
    refusalOf: unlessUp,
    operation: () => ({ method: "host.getAuditLog" }),
    onResult: fetchContent,
  }),
];
