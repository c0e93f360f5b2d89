import type { ActivityKind } from "./activity-entry.js";
import type { ObjectSummary } from "./object-summary.js";

interface Kinds {
  readonly created?: ActivityKind;
  readonly removed?: ActivityKind;
  readonly renamed: ActivityKind;
}

/**
 * Pools are handled by connection state. Other types, such as VDI snapshots,
 * have no events.
 */
const kindsByType: ReadonlyMap<string, Kinds> = new Map<string, Kinds>([
  ["VM", kinds("vm")],
  ["VM-template", kinds("template")],
  ["VM-snapshot", kinds("snapshot")],
  ["SR", kinds("sr")],
  ["network", kinds("network")],
  ["VDI", kinds("vdi")],
  ["pool", { renamed: "pool.renamed" }],
  [
    "host",
    { created: "host.joined", removed: "host.left", renamed: "host.renamed" },
  ],
]);

function kinds(
  noun: "vm" | "template" | "snapshot" | "sr" | "network" | "vdi",
): Kinds {
  return {
    created: `${noun}.created`,
    removed: `${noun}.removed`,
    renamed: `${noun}.renamed`,
  };
}

/** Whether events of objects of this type are recorded. */
export function isTracked(type: string): boolean {
  return kindsByType.has(type);
}

/** @returns undefined: changes of this type are not recorded */
export function kindOf(
  type: string,
  what: keyof Kinds,
): ActivityKind | undefined {
  return kindsByType.get(type)?.[what];
}

/** Events that follow from a change of an object. */
export function changesOf(
  before: ObjectSummary,
  after: ObjectSummary,
): ActivityKind[] {
  if (before === after || before.type !== after.type) return [];
  if (after.type === "host") return hostChanges(before.state, after.state);
  return after.type === "VM" ? vmChanges(before, after) : [];
}

function vmChanges(
  before: ObjectSummary,
  after: ObjectSummary,
): ActivityKind[] {
  if (before.state !== after.state) {
    const kind = powerKind(before.state, after.state);
    return kind === undefined ? [] : [kind];
  }
  const isUp = after.state === "Running" || after.state === "Paused";
  return isUp && before.location !== after.location ? ["vm.moved"] : [];
}

function powerKind(before: string, after: string): ActivityKind | undefined {
  if (after === "Running")
    return before === "Halted" ? "vm.started" : "vm.resumed";
  if (after === "Halted") return "vm.stopped";
  if (after === "Suspended") return "vm.suspended";
  return after === "Paused" ? "vm.paused" : undefined;
}

function hostChanges(before: string, after: string): ActivityKind[] {
  const [wasEnabled, wasLive] = before.split(", ");
  const [isEnabled, isLive] = after.split(", ");
  const found: ActivityKind[] = [];
  if (wasLive !== isLive)
    found.push(isLive === "seen" ? "host.back" : "host.lost");
  if (wasEnabled !== isEnabled)
    found.push(isEnabled === "in use" ? "host.enabled" : "host.disabled");
  return found;
}
