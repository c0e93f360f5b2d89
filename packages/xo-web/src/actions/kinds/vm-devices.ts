import { ShieldMinus, ShieldPlus } from "@lucide/vue";
import type { ObjectRow } from "../../api/object-row.js";
import type { Messages } from "../../locale/messages.js";
import { defineAction, nameOf, type Action } from "../plan/action.js";
import { textOf } from "../plan/text-of.js";
import { blocked, unlessState } from "./reasons.js";

const vm = { types: ["VM"], group: "change", isForOne: true } as const;
type Refusal = NonNullable<Action["refusalOf"]>;

/** Devices of a VM beside disks and interfaces: TPM, USB, PCI, GPU. */
export const vmDeviceActions: readonly Action[] = [
  defineAction({
    ...vm,
    id: "vm.createVtpm",
    icon: ShieldPlus,
    refusalOf: (object, text) =>
      unlessState(object, text, "Halted") ??
      (idsIn(object, "VTPMs").length > 0
        ? text.actions.reasons.hasVtpm
        : blocked(object, text, "create_vtpm")),
    formOf: (_, { text }) => ({ lead: text.actions.leads.createVtpm }),
    operation: () => ({ method: "vtpm.create" }),
  }),
  defineAction({
    ...vm,
    group: "danger",
    tone: "danger",
    id: "vm.destroyVtpm",
    icon: ShieldMinus,
    // The server checks the right to the VTPM itself.
    needs: { method: "vtpm.create" },
    refusalOf: unlessHaltedWith("VTPMs", "noVtpm"),
    formOf: ([object], { text }) => ({
      lead: text.actions.leads.destroyVtpm,
      ...(object === undefined ? {} : { typed: nameOf(object) }),
    }),
    operation: (object) => ({
      method: "vtpm.destroy",
      idParameter: "",
      params: { id: idsIn(object, "VTPMs")[0] ?? "" },
    }),
  }),
];

/** A missing field is not checked: rows of lists do not have all. */
function unlessHaltedWith(
  field: string,
  reason: keyof Pick<Messages["actions"]["reasons"], "noVtpm">,
): Refusal {
  return (object, text) =>
    unlessState(object, text, "Halted") ??
    (object[field] !== undefined && idsIn(object, field).length === 0
      ? text.actions.reasons[reason]
      : undefined);
}

function idsIn(object: ObjectRow, field: string): readonly string[] {
  const ids = object[field];
  return Array.isArray(ids) ? ids.map(textOf).filter(Boolean) : [];
}
