import { Ban, CircleX, Plug, Trash2, Unplug } from "@lucide/vue";
import { defineAction, nameOf, type Action } from "../plan/action.js";

/** Networks, PIFs, tasks of pools, messages. */
export const otherActions: readonly Action[] = [
  defineAction({
    types: ["network"],
    id: "network.delete",
    group: "danger",
    tone: "danger",
    icon: Trash2,
    formOf: ([object, ...more], { text }) => ({
      lead: text.actions.leads.deleteNetwork,
      ...(object === undefined || more.length > 0
        ? {}
        : { typed: nameOf(object) }),
    }),
    operation: () => ({ method: "network.delete" }),
  }),
  defineAction({
    types: ["PIF"],
    id: "pif.connect",
    group: "work",
    isPrimary: true,
    icon: Plug,
    refusalOf: ({ attached }, text) =>
      attached === true ? text.actions.reasons.attached : undefined,
    operation: () => ({ method: "pif.connect" }),
    undo: (objects) => [{ operation: { method: "pif.disconnect" }, objects }],
  }),
  defineAction({
    types: ["PIF"],
    id: "pif.disconnect",
    isDisruptive: true,
    group: "work",
    isPrimary: true,
    icon: Unplug,
    refusalOf: ({ attached, management }, text) => {
      if (management === true) return text.actions.reasons.management;
      return attached === false ? text.actions.reasons.detached : undefined;
    },
    formOf: (_, { text }) => ({ lead: text.actions.leads.pifDisconnect }),
    operation: () => ({ method: "pif.disconnect" }),
    undo: (objects) => [{ operation: { method: "pif.connect" }, objects }],
  }),
  defineAction({
    types: ["task"],
    id: "task.cancel",
    group: "work",
    isPrimary: true,
    icon: Ban,
    refusalOf: ({ status, allowedOperations }, text) => {
      if (status !== undefined && status !== "pending")
        return text.actions.reasons.taskEnded;
      return Array.isArray(allowedOperations) &&
        !allowedOperations.includes("cancel")
        ? text.actions.reasons.notCancellable
        : undefined;
    },
    operation: () => ({ method: "task.cancel" }),
  }),
  defineAction({
    types: ["task"],
    id: "task.destroy",
    group: "work",
    icon: CircleX,
    formOf: (_, { text }) => ({ lead: text.actions.leads.taskDestroy }),
    operation: () => ({ method: "task.destroy" }),
  }),
  defineAction({
    types: ["message"],
    id: "message.delete",
    group: "danger",
    isPrimary: true,
    icon: Trash2,
    operation: () => ({ method: "message.delete" }),
  }),
];
