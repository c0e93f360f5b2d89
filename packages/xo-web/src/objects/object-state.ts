import type { Messages } from "../locale/messages.js";
import type { ObjectRow } from "../api/object-row.js";
import type { PowerState } from "./vm.js";

export type Tone = "good" | "busy" | "warn" | "bad" | "idle";

export interface ObjectState {
  readonly word: keyof Messages["objects"]["states"];
  readonly tone: Tone;
}

/** The state of an object in one word, with its colour; undefined: its type has none. */
export function stateOf(object: ObjectRow): ObjectState | undefined {
  switch (object.type) {
    case "VM":
    case "VM-controller":
      return vmState(object);
    case "host":
      return hostState(object);
    case "SR":
      return object["inMaintenanceMode"] === true
        ? { word: "maintenance", tone: "warn" }
        : undefined;
    case "PIF":
      return object["carrier"] === true
        ? { word: "connected", tone: "good" }
        : { word: "noLink", tone: "warn" };
    default:
      return undefined;
  }
}

function vmState(vm: ObjectRow): ObjectState | undefined {
  const operations = Object.keys(vm["current_operations"] ?? {});
  if (operations.length > 0) return { word: "working", tone: "busy" };
  const powerState = vm["power_state"] as PowerState;
  switch (powerState) {
    case "Running":
      return { word: "running", tone: "good" };
    case "Paused":
      return { word: "paused", tone: "warn" };
    case "Suspended":
      return { word: "suspended", tone: "warn" };
    case "Halted":
      return { word: "halted", tone: "idle" };
  }
}

function hostState(host: ObjectRow): ObjectState {
  if (host["power_state"] === "Halted") return { word: "halted", tone: "idle" };
  if (host["power_state"] !== "Running") return { word: "lost", tone: "bad" };
  return host["enabled"] === false
    ? { word: "maintenance", tone: "warn" }
    : { word: "running", tone: "good" };
}
