import { InvalidModel } from "../invalid-model.js";
import type { GroupModel } from "../model/pool-model.js";
import type { Numbered } from "./numbered.js";
import { toRagged, type Ragged } from "./ragged.js";

/** Groups by number, and both ways between them and VMs. */
export interface Groups {
  readonly models: readonly GroupModel[];
  readonly vmsOf: Ragged;
  readonly groupsOf: Ragged;
  /** The lowest VM of those that must all be on one host with a VM; itself where there are none. */
  readonly unitOf: Int32Array;
  /** Members of units of more than one VM, by their lowest. */
  readonly units: ReadonlyMap<number, readonly number[]>;
}

export function indexGroups(
  given: readonly GroupModel[],
  vms: Numbered,
): Groups {
  const models = [...given].sort((a, b) => (a.id < b.id ? -1 : 1));
  const groups: number[] = [];
  const members: number[] = [];
  for (const [group, { id, vms: ids, weight = 1 }] of models.entries()) {
    if (models[group - 1]?.id === id)
      throw new InvalidModel(`group ${id} is there twice`);
    if (!(weight > 0)) throw new InvalidModel(`group ${id} weighs ${weight}`);
    const numbers = [...new Set(ids.map((vm) => vms.of(vm)))];
    for (const vm of numbers.sort((a, b) => a - b)) {
      groups.push(group);
      members.push(vm);
    }
  }
  const unitOf = findUnits(models, vms);
  return {
    models,
    vmsOf: toRagged(models.length, groups, members),
    groupsOf: toRagged(vms.size, members, groups),
    unitOf,
    units: listUnits(unitOf),
  };
}

function findUnits(models: readonly GroupModel[], vms: Numbered): Int32Array {
  const unitOf = new Int32Array(vms.size).map((_, vm) => vm);
  const find = (vm: number): number => {
    let top = vm;
    while (unitOf[top] !== top) top = unitOf[top]!;
    return (unitOf[vm] = top);
  };
  for (const { kind, strict, vms: ids } of models) {
    if (kind !== "together" || !strict) continue;
    const members = ids.map((id) => find(vms.of(id)));
    const lowest = Math.min(...members);
    for (const member of members) unitOf[find(member)] = find(lowest);
  }
  for (let vm = 0; vm < unitOf.length; vm++) find(vm);
  return toLowest(unitOf);
}

/** Unions may have put a higher one on top. */
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
