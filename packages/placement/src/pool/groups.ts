import { InvalidModel } from "../model/invalid-model.js";
import type { GroupModel } from "../model/pool-model.js";
import type { IdIndex } from "./id-index.js";
import { toRaggedArray, type RaggedArray } from "./ragged-array.js";

/** Groups by number, with the mappings from groups to VMs and back. */
export interface Groups {
  readonly models: readonly GroupModel[];
  readonly vmsOf: RaggedArray;
  readonly groupsOf: RaggedArray;
  /**
   * For each VM, the lowest VM that required affinity ties it to; the VM itself if
   * there is none.
   */
  readonly unitOf: Int32Array;
  /** Members of units with more than one VM, by their lowest VM. */
  readonly units: ReadonlyMap<number, readonly number[]>;
}

/**
 * Numbers the groups in the order of their ids, so that the result does not
 * depend on the order of the input.
 * @throws InvalidModel for a duplicate id, a weight of 0 or less, an unknown VM
 */
export function indexGroups(
  input: readonly GroupModel[],
  vms: IdIndex,
): Groups {
  const models = [...input].sort((a, b) => (a.id < b.id ? -1 : 1));
  const groups: number[] = [];
  const members: number[] = [];
  for (const [group, { id, vms: ids, weight = 1 }] of models.entries()) {
    if (models[group - 1]?.id === id)
      throw new InvalidModel(`duplicate group ${id}`);
    if (!(weight > 0))
      throw new InvalidModel(
        `group ${id}: weight must be above 0, is ${weight}`,
      );
    const numbers = [...new Set(ids.map((vm) => vms.of(vm)))];
    for (const vm of numbers.sort((a, b) => a - b)) {
      groups.push(group);
      members.push(vm);
    }
  }
  const unitOf = findUnits(models, vms);
  return {
    models,
    vmsOf: toRaggedArray(models.length, groups, members),
    groupsOf: toRaggedArray(vms.size, members, groups),
    unitOf,
    units: listUnits(unitOf),
  };
}

function findUnits(models: readonly GroupModel[], vms: IdIndex): Int32Array {
  const unitOf = new Int32Array(vms.size).map((_, vm) => vm);
  const find = (vm: number): number => {
    let top = vm;
    while (unitOf[top] !== top) top = unitOf[top]!;
    return (unitOf[vm] = top);
  };
  for (const { kind, required, vms: ids } of models) {
    if (kind !== "affinity" || !required) continue;
    const members = ids.map((id) => find(vms.of(id)));
    const lowest = Math.min(...members);
    for (const member of members) unitOf[find(member)] = find(lowest);
  }
  for (let vm = 0; vm < unitOf.length; vm++) find(vm);
  return toLowest(unitOf);
}

/** Makes the lowest VM the representative of each group, which it may not be after the unions. */
function toLowest(unitOf: Int32Array): Int32Array {
  const lowest = new Map<number, number>();
  for (const [vm, top] of unitOf.entries())
    if (!lowest.has(top)) lowest.set(top, vm);
  return unitOf.map((top) => lowest.get(top)!);
}

function listUnits(unitOf: Int32Array): ReadonlyMap<number, readonly number[]> {
  const units = new Map<number, number[]>();
  for (const [vm, unit] of unitOf.entries()) {
    if (vm === unit) continue;
    const members = units.get(unit);
    if (members === undefined) units.set(unit, [unit, vm]);
    else members.push(vm);
  }
  return units;
}
