import { Cable, Pencil, Trash2 } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import type { Field } from "../../actions/plan/action-form.js";
import type { Messages } from "../../locale/messages.js";
import { addRule } from "./traffic-rule-actions.js";
import { ownAction } from "../own-action.js";
import { plugActions } from "./plug-actions.js";

/** Actions on a VIF. */
export const vifActions: readonly Action[] = [
  ...plugActions("VIF", "vif"),
  ownAction({
    types: ["VIF"],
    id: "vif.edit",
    group: "change",
    icon: Pencil,
    label: (text) => text.vm.actions.editInterface,
    isForOne: true,
    formOf: ([vif], { text }) => ({
      lead: text.vm.leads.editInterface,
      fields: [
        networkField(text, vif?.$pool, vif?.["$network"]),
        {
          kind: "text",
          id: "mac",
          label: text.vm.columns.mac,
          initial: textOf(vif?.["MAC"]),
        },
        {
          kind: "number",
          id: "rateLimit",
          isOptional: true,
          least: 1,
          label: text.vm.rateField,
          ...(typeof vif?.["rateLimit"] === "number"
            ? { initial: vif["rateLimit"] }
            : {}),
        },
        {
          kind: "choice",
          id: "lockingMode",
          label: text.vm.lockField,
          initial: textOf(vif?.["lockingMode"]),
          options: (
            ["network_default", "locked", "unlocked", "disabled"] as const
          ).map((id) => ({ id, label: text.vm.locking[id] })),
        },
      ],
      button: text.ui.save,
    }),
    operation: (vif, { network, mac, rateLimit, lockingMode }) => ({
      method: "vif.set",
      params: {
        // Only changed fields are sent: XAPI recreates a VIF when network or address are set.
        ...(network === vif["$network"] || !network ? {} : { network }),
        ...(mac === vif["MAC"] || !mac ? {} : { mac }),
        rateLimit: rateLimit ?? null,
        lockingMode: lockingMode ?? null,
      },
    }),
  }),
  addRule("VIF"),
  ownAction({
    types: ["VIF"],
    id: "vif.delete",
    group: "danger",
    icon: Trash2,
    tone: "danger",
    label: (text) => text.vm.actions.deleteInterface,
    formOf: (_, { text }) => ({ lead: text.vm.leads.deleteInterface }),
    operation: () => ({ method: "vif.delete" }),
    undo: (objects) =>
      objects.flatMap(({ $VM, $network, MAC, device }) => {
        if (typeof $VM !== "string" || typeof $network !== "string") return [];
        const params = {
          network: $network,
          mac: textOf(MAC),
          position: textOf(device),
        };
        const order = {
          method: "vm.createInterface",
          idParameter: "vm",
          params,
        };
        return [{ operation: order, objects: [{ id: $VM, type: "VM" }] }];
      }),
  }),
];

const machine = { types: ["VM", "VM-template"], group: "work" } as const;

export const newInterface = ownAction({
  ...machine,
  id: "vm.newInterface",
  icon: Cable,
  isForOne: true,
  label: (text) => text.vm.actions.newInterface,
  formOf: ([vm], { text }) => ({
    fields: [
      networkField(text, vm?.$pool, undefined),
      {
        kind: "text",
        id: "mac",
        label: text.vm.columns.mac,
        hint: text.vm.macHint,
        isOptional: true,
      },
    ],
    button: text.vm.create,
  }),
  operation: (_, { network, mac }) => ({
    method: "vm.createInterface",
    idParameter: "vm",
    params: { network: network ?? "", ...(mac ? { mac } : {}) },
  }),
});

function networkField(
  text: Messages,
  pool: string | undefined,
  initial: unknown,
): Field {
  return {
    kind: "object",
    id: "network",
    type: "network",
    label: text.vm.columns.network,
    filter: `$pool:${pool ?? ""}`,
    ...(typeof initial === "string" ? { initial } : {}),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
