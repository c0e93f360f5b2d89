import { Ban, CircleX, Plug, Trash2, Unplug } from "@lucide/vue";
import { defineAction, nameOf, type Action } from "../action.js";

/** Networks, interfaces, tasks of pools, messages. */
export const otherActions: readonly Action[] = [
  defineAction({
    types: ["network"],
    id: "network.delete",
    group: "danger",
    tone: "danger",
    icon: Trash2,
    ask: ([object, ...more], { text }) => ({
      lead: text.actions.leads.deleteNetwork,
      ...(object === undefined || more.length > 0
        ? {}
        : { typed: nameOf(object) }),
    }),
    order: () => ({ method: "network.delete" }),
  }),
  defineAction({
    types: ["PIF"],
    id: "pif.connect",
    group: "work",
    isPrimary: true,
    icon: Plug,
    cannot: ({ attached }, text) =>
      attached === true ? text.actions.reasons.attached : undefined,
    order: () => ({ method: "pif.connect" }),
    undo: (objects) => [{ order: { method: "pif.disconnect" }, objects }],
  }),
  defineAction({
    types: ["PIF"],
    id: "pif.disconnect",
    group: "work",
    isPrimary: true,
    icon: Unplug,
    cannot: ({ attached, management }, text) => {
      if (management === true) return text.actions.reasons.management;
      return attached === false ? text.actions.reasons.detached : undefined;
    },
    ask: (_, { text }) => ({ lead: text.actions.leads.pifDisconnect }),
    order: () => ({ method: "pif.disconnect" }),
    undo: (objects) => [{ order: { method: "pif.connect" }, objects }],
  }),
  defineAction({
    types: ["task"],
    id: "task.cancel",
    group: "work",
    isPrimary: true,
    icon: Ban,
    cannot: ({ status, allowedOperations }, text) => {
      if (status !== undefined && status !== "pending")
        return text.actions.reasons.taskEnded;
      return Array.isArray(allowedOperations) &&
        !allowedOperations.includes("cancel")
        ? text.actions.reasons.notCancellable
        : undefined;
    },
    order: () => ({ method: "task.cancel" }),
  }),
  defineAction({
    types: ["task"],
    id: "task.destroy",
    group: "work",
    icon: CircleX,
    ask: (_, { text }) => ({ lead: text.actions.leads.taskDestroy }),
    order: () => ({ method: "task.destroy" }),
  }),
  defineAction({
    types: ["message"],
    id: "message.delete",
    group: "danger",
    isPrimary: true,
    icon: Trash2,
    order: () => ({ method: "message.delete" }),
  }),
];
