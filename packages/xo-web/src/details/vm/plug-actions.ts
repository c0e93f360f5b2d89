import { Plug, Unplug } from "@lucide/vue";
import type { Action } from "../../actions/action.js";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../objects/object-row.js";
import { ownAction } from "../own-action.js";

const halted = (object: ObjectRow, text: Messages) =>
  object["power_state"] === "Halted" ? text.vm.reasons.halted : undefined;

/** Plugging and unplugging is the same for disks and interfaces. */
export function plugActions(
  type: "VBD" | "VIF",
  noun: "vbd" | "vif",
): Action[] {
  return [
    ownAction({
      types: [type],
      id: `${noun}.connect`,
      group: "work",
      icon: Plug,
      label: (text) => text.vm.acts.connect,
      cannot: (object, text) =>
        object["attached"] === true
          ? text.vm.reasons.connected
          : halted(object, text),
      order: () => ({ method: `${noun}.connect` }),
      undo: (objects) => [{ order: { method: `${noun}.disconnect` }, objects }],
    }),
    ownAction({
      types: [type],
      id: `${noun}.disconnect`,
      group: "work",
      icon: Unplug,
      label: (text) => text.vm.acts.disconnect,
      cannot: (object, text) =>
        object["attached"] === true ? undefined : text.vm.reasons.disconnected,
      order: () => ({ method: `${noun}.disconnect` }),
      undo: (objects) => [{ order: { method: `${noun}.connect` }, objects }],
    }),
  ];
}
