import type { Assignment } from "../assignment/assignment.js";
import type { Action } from "../model/plan.js";
import { scoreOf } from "../place/score.js";
import { dependenciesOf } from "./dependencies.js";
import type { Move } from "./move.js";

/**
 * Converts moves to actions that can overlap, each with the score of its host
 * at that point.
 * @param now the assignment before the first move; not changed
 * @param moves each is possible when all before it are done
 */
export function toActions(now: Assignment, moves: readonly Move[]): Action[] {
  const assignment = now.clone();
  const { vms, hosts } = assignment.pool;
  const after = dependenciesOf(now, moves);
  return moves.map(({ vm, from, to, purpose }, index) => {
    assignment.remove(vm);
    const score = scoreOf(assignment, vm, to);
    assignment.add(vm, to);
    return {
      kind: "migrate",
      vm: vms.ids[vm]!,
      from: hosts.ids[from]!,
      to: hosts.ids[to]!,
      purpose,
      score,
      order: 0,
      after: after[index]!,
    };
  });
}
