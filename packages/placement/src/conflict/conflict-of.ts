import { kindOf } from "../solver/vm-kinds.js";
import type { Assignment } from "../assignment/assignment.js";
import type { Conflict } from "../model/refusal.js";
import {
  findIrreducibleCore,
  findSmallestCore,
  isIrreducible,
  type UnsatisfiableCore,
} from "./unsatisfiable-cores.js";
import { smallestHittingSet } from "./hitting-set.js";
import { FeasibilityOracle } from "./feasibility-oracle.js";
import { findRefused, type RefusedVm } from "./refused.js";
import { Refusals } from "./refusals.js";
import {
  countMembers,
  findCommonConflict,
  hasSingleConstraintConflict,
  capacityConstraints,
} from "./common-conflicts.js";
import { toConflict } from "./to-conflict.js";

/** Limit of VM kinds times hosts for conflict analysis. */
const MAX_CHECKS = 200_000;
/** Limit of checks times rules for the search of a smallest conflict. */
const MAX_CHECKS_FOR_SMALLEST = 1_000_000;

/**
 * Why no host accepts one VM: the fewest rules by which every host refuses it.
 * @param assignment does not have the VM
 * @returns undefined: a host accepts it, or the search exceeded its limit
 */
export function conflictFor(
  assignment: Assignment,
  vm: number,
): Conflict | undefined {
  const refusals = new Refusals(assignment);
  const constraints = smallestHittingSet(refusals.ofAll(vm));
  if (constraints === undefined) return undefined;
  return toConflict(assignment, [vm], refusals, {
    constraints,
    size: "smallest",
  });
}

/**
 * The conflicting rules, when it is proven that VMs cannot all be placed.
 * @param assignment has none of the VMs
 * @param budget steps
 * @returns undefined: not found within the budget
 */
export function conflictOf(
  assignment: Assignment,
  vms: readonly number[],
  budget: number,
): Conflict | undefined {
  const { pool } = assignment;
  const kinds = [...new Map(vms.map((vm) => [kindOf(pool, vm), vm])).values()];
  const checks = kinds.length * pool.hosts.size;
  if (checks > MAX_CHECKS) return undefined;
  const refusals = new Refusals(assignment);
  const oracle = new FeasibilityOracle(assignment, vms, { refusals, budget });
  const by = { refusals, oracle };
  const refused = findRefused(assignment, kinds, refusals);
  if (refused && isKnownSmallest(assignment, vms, by, refused))
    return toConflict(assignment, [refused.vm], refusals, {
      constraints: refused.constraints,
      size: "smallest",
    });
  const simple = findCommonConflict(assignment, vms, by);
  if (simple) return toConflict(assignment, vms, refusals, simple);
  const constraints = allConstraints(assignment, vms, { kinds, refusals });
  const isFew = constraints.length * checks <= MAX_CHECKS_FOR_SMALLEST;
  const smallest = isFew ? findSmallestCore(oracle, constraints) : undefined;
  if (smallest) return toConflict(assignment, vms, refusals, smallest);
  if (refused && isIrreducible(oracle, refused.constraints))
    return toConflict(assignment, [refused.vm], refusals, {
      constraints: refused.constraints,
      size: "irreducible",
    });
  const core: UnsatisfiableCore | undefined = findIrreducibleCore(
    oracle,
    constraints,
  );
  return core && toConflict(assignment, vms, refusals, core);
}

/** Whether it is already known that no smaller set exists. */
function isKnownSmallest(
  assignment: Assignment,
  vms: readonly number[],
  by: { refusals: Refusals; oracle: FeasibilityOracle },
  { constraints }: RefusedVm,
): boolean {
  if (constraints.length < 2) return true;
  return (
    constraints.length === 2 &&
    !hasSingleConstraintConflict(assignment, vms, by)
  );
}

/** All rules that the VMs could conflict with. */
function allConstraints(
  assignment: Assignment,
  vms: readonly number[],
  { kinds, refusals }: { kinds: readonly number[]; refusals: Refusals },
): number[] {
  const { pool } = assignment;
  const found = new Set(capacityConstraints(assignment, vms, refusals));
  for (const group of countMembers(assignment, vms).keys())
    found.add(
      refusals.constraints.numberOf("group", pool.groups.models[group]!.id),
    );
  for (const vm of kinds)
    for (const constraints of refusals.ofAll(vm))
      for (const constraint of constraints) found.add(constraint);
  return [...found];
}
