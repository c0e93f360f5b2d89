import type { Layout } from "../layout/layout.js";
import type { Residents } from "../moves/residents.js";
import { unitWith } from "../repair/units.js";

/** VMs that the policy, XAPI and nothing else keep from moving. */
export function toMayMove(
  { vms, vmModels }: Layout["pool"],
  excluded: readonly string[] = [],
): (vm: number) => boolean {
  const stay = new Set<number>();
  for (const id of excluded) {
    const vm = vms.find(id);
    if (vm !== undefined) stay.add(vm);
  }
  return (vm) => vmModels[vm]!.pinned === undefined && !stay.has(vm);
}

/** What can leave a host as one, in the order of their first VMs. */
export function unitsOn(
  layout: Layout,
  residents: Residents,
  host: number,
): readonly (readonly number[])[] {
  const vms = [...residents.on(host)].sort((a, b) => a - b);
  return vms
    .map((vm) => ({ vm, unit: unitWith(layout, vm) }))
    .filter(({ vm, unit }) => unit[0] === vm)
    .map(({ unit }) => unit)
    .filter((unit) => unit.every((vm) => layout.hostOf[vm] === host));
}
