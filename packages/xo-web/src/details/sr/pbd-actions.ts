import { Plug, Trash2, Unplug } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import { ownAction } from "../own-action.js";

const pbd = { types: ["PBD"], isForOne: true } as const;

/** Actions on a PBD. */
export const pbdActions: readonly Action[] = [
  ownAction({
    ...pbd,
    id: "pbd.connect",
    group: "work",
    icon: Plug,
    label: (text) => text.sr.actions.connect,
    refusalOf: ({ attached }, text) =>
      attached === true ? text.sr.reasons.connected : undefined,
    operation: () => ({ method: "pbd.connect" }),
    undo: (objects) => [{ operation: { method: "pbd.disconnect" }, objects }],
  }),
  ownAction({
    ...pbd,
    id: "pbd.disconnect",
    group: "work",
    icon: Unplug,
    label: (text) => text.sr.actions.disconnect,
    refusalOf: ({ attached }, text) =>
      attached === true ? undefined : text.sr.reasons.disconnected,
    formOf: (_, { text }) => ({ lead: text.sr.leads.disconnect }),
    operation: () => ({ method: "pbd.disconnect" }),
    undo: (objects) => [{ operation: { method: "pbd.connect" }, objects }],
  }),
  ownAction({
    ...pbd,
    id: "pbd.delete",
    group: "danger",
    icon: Trash2,
    tone: "danger",
    label: (text) => text.sr.actions.forget,
    refusalOf: ({ attached }, text) =>
      attached === true ? text.sr.reasons.disconnectFirst : undefined,
    formOf: (_, { text }) => ({ lead: text.sr.leads.forget }),
    operation: () => ({ method: "pbd.delete" }),
  }),
];
