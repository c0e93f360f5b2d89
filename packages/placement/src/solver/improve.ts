import type { Assignment } from "../assignment/assignment.js";
import { HostSelector } from "../place/host-selector.js";
import { placeAll } from "./greedy.js";
import { EjectionChains } from "./ejection-chains.js";
import { inPlacingOrder, isBestEffort, type Unit } from "./placing-order.js";
import { StageSolver, type PartialSolution } from "./stage-solver.js";
import { toUnits } from "./units.js";

interface ImproveResult {
  readonly unplaced: readonly number[];
  /** See `AssignResult`. */
  readonly isProven: boolean;
  /** VMs that cannot all be placed, as far as that is proven. */
  readonly inConflict: readonly number[];
}

/**
 * Improves a greedy assignment. First the VMs that must restart, as if there
 * were no others; then all VMs; if that is not possible, as many best-effort
 * ones as fit.
 * @param assignment has the result of the greedy pass; has the improved result
 *   afterwards
 */
export function improve(
  assignment: Assignment,
  requested: readonly number[],
  budget: number,
): ImproveResult {
  const must = requested.filter((vm) => !isBestEffort(assignment, vm));
  const may = requested.filter((vm) => isBestEffort(assignment, vm));
  const base = without(assignment, requested);
  const first = new StageSolver(base, must, budget).solve(
    without(assignment, may),
  );
  const filled = placeBestEffort(
    first.solution.assignment,
    requested,
    budget / 10,
  );
  const isShort = first.solution.unplaced.length > 0;
  if (isShort || may.length === 0 || filled.unplaced.length === 0) {
    copyTo(assignment, requested, filled.assignment);
    const unplaced = placeIndividually(assignment, filled.unplaced);
    return { unplaced, isProven: first.isProven, inConflict: must };
  }
  const all = new StageSolver(base, requested, budget).solve(filled.assignment);
  copyTo(assignment, requested, all.solution.assignment);
  const unplaced = placeIndividually(assignment, all.solution.unplaced);
  return { unplaced, isProven: all.isProven, inConflict: requested };
}

/**
 * Adds as many best-effort VMs as fit. VMs that are already placed may move,
 * but stay placed.
 */
function placeBestEffort(
  from: Assignment,
  requested: readonly number[],
  budget: number,
): PartialSolution {
  const assignment = from.clone();
  const more = requested.filter(
    (vm) => assignment.hostOf[vm]! < 0 && isBestEffort(assignment, vm),
  );
  if (more.length === 0)
    return {
      assignment,
      unplaced: requested.filter((vm) => assignment.hostOf[vm]! < 0),
    };
  const order = inPlacingOrder(assignment, more);
  const failed = placeAll(new HostSelector(assignment), assignment, order);
  const chains = new EjectionChains(
    assignment,
    placedOf(assignment, requested),
    budget,
  );
  for (const unit of failed) chains.place(unit);
  const isOut = (vm: number) => assignment.hostOf[vm]! < 0;
  return { assignment, unplaced: requested.filter(isOut) };
}

/**
 * Places VMs with required affinity one by one, because some may fit where not all
 * do.
 * @returns VMs that remain unplaced
 */
function placeIndividually(
  assignment: Assignment,
  vms: readonly number[],
): number[] {
  if (vms.length === 0) return [];
  const { vmMemory } = assignment.pool;
  const late = (vm: number) => Number(isBestEffort(assignment, vm));
  const order = [...vms].sort(
    (a, b) => late(a) - late(b) || vmMemory[a]! - vmMemory[b]! || a - b,
  );
  const selector = new HostSelector(assignment);
  for (const vm of order) {
    const host = selector.select(vm);
    if (host >= 0) assignment.add(vm, host);
  }
  return vms.filter((vm) => assignment.hostOf[vm]! < 0);
}

function placedOf(
  assignment: Assignment,
  vms: readonly number[],
): readonly Unit[] {
  return toUnits(
    assignment.pool,
    vms.filter((vm) => assignment.hostOf[vm]! >= 0),
  );
}

function without(assignment: Assignment, vms: readonly number[]): Assignment {
  const copy = assignment.clone();
  for (const vm of vms) if (copy.hostOf[vm]! >= 0) copy.remove(vm);
  return copy;
}

function copyTo(
  assignment: Assignment,
  vms: readonly number[],
  from: Assignment,
): void {
  for (const vm of vms) if (assignment.hostOf[vm]! >= 0) assignment.remove(vm);
  for (const vm of vms)
    if (from.hostOf[vm]! >= 0) assignment.add(vm, from.hostOf[vm]!);
}
