import type { Assignment } from "../assignment/assignment.js";
import type { Plan, Purpose } from "../model/plan.js";
import { toUnplacedAll } from "../place/unplaced.js";
import type { TargetMove } from "./move.js";
import { orderMoves } from "./order-moves.js";
import { toActions } from "./to-actions.js";

/** VMs that are on different hosts in the two assignments. */
export function movedBetween(
  now: Assignment,
  then: Assignment,
  purposeOf: (vm: number) => Purpose,
): TargetMove[] {
  const requested: TargetMove[] = [];
  for (const [vm, to] of then.hostOf.entries()) {
    const from = now.hostOf[vm]!;
    if (from >= 0 && to >= 0 && from !== to)
      requested.push({ vm, to, purpose: purposeOf(vm) });
  }
  return requested;
}

/**
 * @param now the assignment before
 * @param requested in order of preference
 * @param unassigned VMs without a target; VMs that cannot reach their target
 *   are added
 */
export function toMovePlan(
  now: Assignment,
  requested: readonly TargetMove[],
  unassigned: readonly number[],
): Pick<Plan, "actions" | "unplaced"> {
  const {
    moves,
    unreachable: left,
    result: after,
  } = orderMoves(now, requested);
  const unplaced = [...new Set([...unassigned, ...left])].sort((a, b) => a - b);
  for (const vm of unplaced) after.remove(vm);
  return {
    actions: toActions(now, moves),
    unplaced: toUnplacedAll(after, unplaced),
  };
}
