import type { Assignment } from "../assignment/assignment.js";
import type { Residents } from "../moves/residents.js";
import { unitWith } from "../repair/units.js";

/** Whether a VM may move: not excluded by the policy and not pinned. */
export function toMayMove(
  { vms, vmModels }: Assignment["pool"],
  excluded: readonly string[] = [],
): (vm: number) => boolean {
  const stay = new Set<number>();
  for (const id of excluded) {
    const vm = vms.find(id);
    if (vm !== undefined) stay.add(vm);
  }
  return (vm) => vmModels[vm]!.pinned === undefined && !stay.has(vm);
}

/** Units on a host, in the order of their first VMs. */
export function unitsOn(
  assignment: Assignment,
  residents: Residents,
  host: number,
): readonly (readonly number[])[] {
  const vms = [...residents.on(host)].sort((a, b) => a - b);
  return vms
    .map((vm) => ({ vm, unit: unitWith(assignment, vm) }))
    .filter(({ vm, unit }) => unit[0] === vm)
    .map(({ unit }) => unit)
    .filter((unit) => unit.every((vm) => assignment.hostOf[vm] === host));
}
