import type { Layout } from "../layout/layout.js";
import type { Plan, Purpose } from "../model/plan.js";
import { toUnplacedAll } from "../plans/unplaced.js";
import type { Wanted } from "./move.js";
import { orderMoves } from "./order-moves.js";
import { toActions } from "./to-actions.js";

/** VMs that run elsewhere in the one layout than in the other. */
export function movedBetween(
  now: Layout,
  then: Layout,
  purposeOf: (vm: number) => Purpose,
): Wanted[] {
  const wanted: Wanted[] = [];
  for (const [vm, to] of then.hostOf.entries()) {
    const from = now.hostOf[vm]!;
    if (from >= 0 && to >= 0 && from !== to)
      wanted.push({ vm, to, purpose: purposeOf(vm) });
  }
  return wanted;
}

/**
 * @param now as it is before
 * @param wanted in the order that is best
 * @param homeless VMs that should move and have no place; those that cannot get to theirs join them
 */
export function toMovePlan(
  now: Layout,
  wanted: readonly Wanted[],
  homeless: readonly number[],
): Pick<Plan, "actions" | "unplaced"> {
  const { moves, left, after } = orderMoves(now, wanted);
  const unplaced = [...new Set([...homeless, ...left])].sort((a, b) => a - b);
  for (const vm of unplaced) after.remove(vm);
  return {
    actions: toActions(now, moves),
    unplaced: toUnplacedAll(after, unplaced),
  };
}
