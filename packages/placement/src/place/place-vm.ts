import type { Layout } from "../layout/layout.js";
import type { Candidate } from "../model/rule.js";
import type { Placement } from "../model/plan.js";
import { refusalsOf } from "../rules/host-rules.js";
import { compareScores, scoreOf } from "./score.js";

/** All hosts as a VM sees them that is not counted on any: the best first, those that refuse it last. */
export function rankHosts(layout: Layout, vm: number): Candidate[] {
  const { pool, order } = layout;
  const candidates = pool.hosts.ids.map((id, host): Candidate => {
    const refusals = refusalsOf(layout, vm, host);
    if (refusals.length > 0) return { host: id, refusals };
    return { host: id, refusals, score: scoreOf(layout, vm, host) };
  });
  // The sort is stable: of equal ones the first by id comes first.
  return candidates.sort((a, b) => {
    if (a.score === undefined || b.score === undefined)
      return Number(a.score === undefined) - Number(b.score === undefined);
    return compareScores(a.score, b.score, order);
  });
}

/** Where one VM should start, or should move to if it runs. */
export function placeVm(layout: Layout, vm: number): Placement {
  const without = layout.clone();
  if (without.hostOf[vm]! >= 0) without.remove(vm);
  const candidates = rankHosts(without, vm);
  const [best] = candidates;
  const id = layout.pool.vms.ids[vm]!;
  return best?.score === undefined
    ? { vm: id, candidates }
    : { vm: id, host: best.host, candidates };
}
