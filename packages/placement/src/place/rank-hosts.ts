import type { Layout } from "../layout/layout.js";
import type { Candidate } from "../model/rule.js";
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
