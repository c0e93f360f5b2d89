import { Plug, Unplug } from "@lucide/vue";
import type { Action } from "../../actions/plan/action.js";
import type { Messages } from "../../locale/messages.js";
import type { ObjectRow } from "../../api/object-row.js";
import { ownAction } from "../own-action.js";

const halted = (object: ObjectRow, text: Messages) =>
  object["power_state"] === "Halted" ? text.vm.reasons.halted : undefined;

/** Plug and unplug, shared by VBDs and VIFs. */
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
      label: (text) => text.vm.actions.connect,
      refusalOf: (object, text) =>
        object["attached"] === true
          ? text.vm.reasons.connected
          : halted(object, text),
      operation: () => ({ method: `${noun}.connect` }),
      undo: (objects) => [
        { operation: { method: `${noun}.disconnect` }, objects },
      ],
    }),
    ownAction({
      types: [type],
      id: `${noun}.disconnect`,
      group: "work",
      icon: Unplug,
      label: (text) => text.vm.actions.disconnect,
      refusalOf: (object, text) =>
        object["attached"] === true ? undefined : text.vm.reasons.disconnected,
      operation: () => ({ method: `${noun}.disconnect` }),
      undo: (objects) => [
        { operation: { method: `${noun}.connect` }, objects },
      ],
    }),
  ];
}
