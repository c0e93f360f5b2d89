import { kindOf } from "../fit/vm-kinds.js";
import type { Layout } from "../layout/layout.js";
import type { Conflict } from "../model/rule.js";
import {
  findIrreducible,
  findSmallest,
  isIrreducible,
  type Core,
} from "./cores.js";
import { smallestHittingSet } from "./hitting-set.js";
import { Oracle } from "./oracle.js";
import { findRefused, type Refused } from "./refused.js";
import { Refusals } from "./refusals.js";
import { countMembers, findSimple, hasSingle, toRoomAtoms } from "./singles.js";
import { toConflict } from "./to-conflict.js";

/** VMs that differ times hosts, up to which all that keeps them out is looked at. */
const MOST_LOOKS = 200_000;
/** The same times rules, up to which the smallest set is looked for in any case. */
const MOST_WORK = 1_000_000;

/**
 * Why no host takes one VM, all others being where they are: the fewest rules
 * that make each host refuse it.
 * @param layout does not have the VM
 * @returns undefined: a host takes it, or there are too many rules to tell
 */
export function conflictFor(layout: Layout, vm: number): Conflict | undefined {
  const refusals = new Refusals(layout);
  const atoms = smallestHittingSet(refusals.ofAll(vm));
  if (atoms === undefined) return undefined;
  return toConflict(layout, [vm], refusals, { atoms, size: "smallest" });
}

/**
 * Why VMs cannot all be placed, which is proven.
 * @param layout has none of them
 * @param budget steps
 * @returns undefined: not found within the budget
 */
export function conflictOf(
  layout: Layout,
  vms: readonly number[],
  budget: number,
): Conflict | undefined {
  const { pool } = layout;
  const kinds = [...new Map(vms.map((vm) => [kindOf(pool, vm), vm])).values()];
  const looks = kinds.length * pool.hosts.size;
  if (looks > MOST_LOOKS) return undefined;
  const refusals = new Refusals(layout);
  const oracle = new Oracle(layout, vms, { refusals, budget });
  const by = { refusals, oracle };
  const refused = findRefused(layout, kinds, refusals);
  if (refused && isSmall(layout, vms, by, refused))
    return toConflict(layout, [refused.vm], refusals, {
      atoms: refused.atoms,
      size: "smallest",
    });
  const simple = findSimple(layout, vms, by);
  if (simple) return toConflict(layout, vms, refusals, simple);
  const atoms = allAtoms(layout, vms, { kinds, refusals });
  const isFew = atoms.length * looks <= MOST_WORK;
  const smallest = isFew ? findSmallest(oracle, atoms) : undefined;
  if (smallest) return toConflict(layout, vms, refusals, smallest);
  if (refused && isIrreducible(oracle, refused.atoms))
    return toConflict(layout, [refused.vm], refusals, {
      atoms: refused.atoms,
      size: "irreducible",
    });
  const core: Core | undefined = findIrreducible(oracle, atoms);
  return core && toConflict(layout, vms, refusals, core);
}

/** Whether there is no smaller set of rules, as far as that is seen at once. */
function isSmall(
  layout: Layout,
  vms: readonly number[],
  by: { refusals: Refusals; oracle: Oracle },
  { atoms }: Refused,
): boolean {
  if (atoms.length < 2) return true;
  return atoms.length === 2 && !hasSingle(layout, vms, by);
}

/** All rules that VMs could be in conflict with. */
function allAtoms(
  layout: Layout,
  vms: readonly number[],
  { kinds, refusals }: { kinds: readonly number[]; refusals: Refusals },
): number[] {
  const { pool } = layout;
  const found = new Set(toRoomAtoms(layout, vms, refusals));
  for (const group of countMembers(layout, vms).keys())
    found.add(refusals.atoms.numberOf("group", pool.groups.models[group]!.id));
  for (const vm of kinds)
    for (const atoms of refusals.ofAll(vm))
      for (const atom of atoms) found.add(atom);
  return [...found];
}
