import type { Messages } from "../locale/messages.js";
import type { ObjectRow } from "../api/object-row.js";
import type { PowerState } from "./vm.js";

type Tone = "good" | "busy" | "warn" | "bad" | "idle";

export interface ObjectState {
  readonly messageKey: keyof Messages["objects"]["states"];
  readonly tone: Tone;
}

/** The state of an object as text, with its colour; undefined: its type has none. */
export function stateOf(object: ObjectRow): ObjectState | undefined {
  switch (object.type) {
    case "VM":
    case "VM-controller":
      return vmState(object);
    case "host":
      return hostState(object);
    case "SR":
      return object["inMaintenanceMode"] === true
        ? { messageKey: "maintenance", tone: "warn" }
        : undefined;
    case "PIF":
      return object["carrier"] === true
        ? { messageKey: "connected", tone: "good" }
        : { messageKey: "noLink", tone: "warn" };
    default:
      return undefined;
  }
}

function vmState(vm: ObjectRow): ObjectState | undefined {
  const operations = Object.keys(vm["current_operations"] ?? {});
  if (operations.length > 0) return { messageKey: "working", tone: "busy" };
  const powerState = vm["power_state"] as PowerState;
  switch (powerState) {
    case "Running":
      return { messageKey: "running", tone: "good" };
    case "Paused":
      return { messageKey: "paused", tone: "warn" };
    case "Suspended":
      return { messageKey: "suspended", tone: "warn" };
    case "Halted":
      return { messageKey: "halted", tone: "idle" };
  }
}

function hostState(host: ObjectRow): ObjectState {
  if (host["power_state"] === "Halted")
    return { messageKey: "halted", tone: "idle" };
  if (host["power_state"] !== "Running")
    return { messageKey: "lost", tone: "bad" };
  return host["enabled"] === false
    ? { messageKey: "maintenance", tone: "warn" }
    : { messageKey: "running", tone: "good" };
}
