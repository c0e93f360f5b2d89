import { Assignment } from "../assignment/assignment.js";
import type { Plan } from "../model/plan.js";
import { movedBetween, toMovePlan } from "../moves/to-plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { PreferenceImprovement } from "../repair/preference-improvement.js";
import { RuleRepair } from "../repair/rule-repair.js";
import type { PlanOptions } from "./options.js";

/**
 * Corrects violations of affinity rules among running VMs with as few moves as
 * it finds. `unplaced`: VMs that still violate a required rule; unmet
 * preferences do not count.
 */
export function planRepair(pool: IndexedPool, options: PlanOptions = {}): Plan {
  const now = Assignment.current(pool, options);
  const then = now.clone();
  const mayMove = (vm: number) => pool.vmModels[vm]!.pinned === undefined;
  const repair = new RuleRepair(then, { mayMove, maxMoves: Infinity });
  const broken = repair.run();
  new PreferenceImprovement(then, { mayMove, maxMoves: Infinity }).run();
  const requested = movedBetween(now, then, (vm) => repair.purposeOf(vm));
  return {
    ...toMovePlan(now, requested, broken),
    isProven: broken.some((vm) => !repair.couldHost(vm)),
  };
}
