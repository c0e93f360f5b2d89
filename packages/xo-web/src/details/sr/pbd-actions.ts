import { Plug, Trash2, Unplug } from "@lucide/vue";
import type { Action } from "../../actions/action.js";
import { ownAction } from "../own-action.js";

const pbd = { types: ["PBD"], isForOne: true } as const;

/** What can be done to a host's connection to an SR. */
export const pbdActions: readonly Action[] = [
  ownAction({
    ...pbd,
    id: "pbd.connect",
    group: "work",
    icon: Plug,
    label: (text) => text.sr.acts.connect,
    cannot: ({ attached }, text) =>
      attached === true ? text.sr.reasons.connected : undefined,
    order: () => ({ method: "pbd.connect" }),
    undo: (objects) => [{ order: { method: "pbd.disconnect" }, objects }],
  }),
  ownAction({
    ...pbd,
    id: "pbd.disconnect",
    group: "work",
    icon: Unplug,
    label: (text) => text.sr.acts.disconnect,
    cannot: ({ attached }, text) =>
      attached === true ? undefined : text.sr.reasons.disconnected,
    ask: (_, { text }) => ({ lead: text.sr.leads.disconnect }),
    order: () => ({ method: "pbd.disconnect" }),
    undo: (objects) => [{ order: { method: "pbd.connect" }, objects }],
  }),
  ownAction({
    ...pbd,
    id: "pbd.delete",
    group: "danger",
    icon: Trash2,
    tone: "danger",
    label: (text) => text.sr.acts.forget,
    cannot: ({ attached }, text) =>
      attached === true ? text.sr.reasons.disconnectFirst : undefined,
    ask: (_, { text }) => ({ lead: text.sr.leads.forget }),
    order: () => ({ method: "pbd.delete" }),
  }),
];
