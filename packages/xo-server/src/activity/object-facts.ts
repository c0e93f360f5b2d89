import type { ViewObject } from "@xo-server/inventory";

/** The little that is kept of an object to see what a change of it means. Equal facts are the same object. */
export interface Facts {
  readonly type: string;
  /** Of a VM its power state; of a host whether it is in use, and seen. */
  readonly state: string;
  /** Where a VM is; what a snapshot is of. */
  readonly place: string;
}

/** Few differ: states times hosts. */
export class FactsDictionary {
  readonly #known = new Map<string, Facts>();

  of(view: ViewObject): Facts {
    const type = textOf(view["type"]);
    const state = stateOf(type, view);
    const place = placeOf(type, view);
    const key = `${type}\n${state}\n${place}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const facts = { type, state, place };
    // Each snapshot has its VM: those few facts need not be shared.
    if (type !== SNAPSHOT) this.#known.set(key, facts);
    return facts;
  }
}

const SNAPSHOT = "VM-snapshot";

function stateOf(type: string, view: ViewObject): string {
  if (type === "VM") return textOf(view["power_state"]);
  if (type !== "host") return "";
  const isSeen = view["power_state"] === "Running";
  return `${view["enabled"] === true ? "in use" : "disabled"}, ${isSeen ? "seen" : "lost"}`;
}

function placeOf(type: string, view: ViewObject): string {
  if (type === "VM") return textOf(view["$container"]);
  return type === SNAPSHOT ? textOf(view["$snapshot_of"]) : "";
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
