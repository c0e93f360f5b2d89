import { Layout } from "../layout/layout.js";
import type { Plan } from "../model/plan.js";
import { movedBetween, toMovePlan } from "../moves/to-plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { Improvement } from "../repair/improve.js";
import { Repair } from "../repair/repair.js";
import type { PlanOptions } from "./options.js";

/**
 * Moves that mend breaches of groups and locations among VMs that run, as few
 * as it finds. `unplaced`: VMs that stay against a rule; a wish that cannot be
 * met is none.
 */
export function planRepair(pool: IndexedPool, options: PlanOptions = {}): Plan {
  const now = Layout.now(pool, options);
  const then = now.clone();
  const mayMove = (vm: number) => pool.vmModels[vm]!.pinned === undefined;
  const repair = new Repair(then, { mayMove, most: Infinity });
  const broken = repair.run();
  new Improvement(then, { mayMove, most: Infinity }).run();
  const wanted = movedBetween(now, then, (vm) => repair.purposeOf(vm));
  return {
    ...toMovePlan(now, wanted, broken),
    isProven: broken.some((vm) => !repair.isThinkable(vm)),
  };
}
