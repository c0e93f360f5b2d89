import type { Layout } from "../layout/layout.js";
import type { Action } from "../model/plan.js";
import { scoreOf } from "../place/score.js";
import { dependenciesOf } from "./dependencies.js";
import type { Move } from "./move.js";

/**
 * Moves as actions that can overlap, each with the score of its host when
 * those before it are done.
 * @param now as it is before the first; not changed
 * @param moves each can be done when those before it have been
 */
export function toActions(now: Layout, moves: readonly Move[]): Action[] {
  const layout = now.clone();
  const { vms, hosts } = layout.pool;
  const after = dependenciesOf(now, moves);
  return moves.map(({ vm, from, to, purpose }, index) => {
    layout.remove(vm);
    const score = scoreOf(layout, vm, to);
    layout.add(vm, to);
    return {
      kind: "move",
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
