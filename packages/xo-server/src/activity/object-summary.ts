import type { ObjectReader } from "@xo-server/inventory";

/**
 * The fields of an object that events are derived from. Equal summaries are
 * the same object.
 */
export interface ObjectSummary {
  readonly type: string;
  /** The power state of a VM; for a host whether it is enabled and alive. */
  readonly state: string;
  /** The host of a running VM; the VM of a snapshot. */
  readonly location: string;
}

/** Shares equal summaries: there are few combinations of state and host. */
export class SummaryDictionary {
  readonly #known = new Map<string, ObjectSummary>();

  of(object: ObjectReader): ObjectSummary {
    const type = textOf(object.value(["type"]));
    const state = stateOf(type, object);
    const location = locationOf(type, state, object);
    const key = `${type}\n${state}\n${location}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const summary = { type, state, location };
    // Summaries of snapshots are unique per VM and not shared.
    if (type !== SNAPSHOT) this.#known.set(key, summary);
    return summary;
  }
}

const SNAPSHOT = "VM-snapshot";

function stateOf(type: string, object: ObjectReader): string {
  if (type === "VM") return textOf(object.value(["power_state"]));
  if (type !== "host") return "";
  const isSeen = object.value(["power_state"]) === "Running";
  return `${object.value(["enabled"]) === true ? "in use" : "disabled"}, ${isSeen ? "seen" : "lost"}`;
}

function locationOf(type: string, state: string, object: ObjectReader): string {
  if (type === "VM") {
    const isUp = state === "Running" || state === "Paused";
    return isUp ? textOf(object.value(["$container"])) : "";
  }
  return type === SNAPSHOT ? textOf(object.value(["$snapshot_of"])) : "";
}

/** The string; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
