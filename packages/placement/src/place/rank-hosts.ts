import type { Assignment } from "../assignment/assignment.js";
import type { Candidate } from "../model/refusal.js";
import { refusalsOf } from "../rules/host-rules.js";
import { compareScores, scoreOf } from "./score.js";

/** All hosts evaluated for an unassigned VM: best first, refusing ones last. */
export function rankHosts(assignment: Assignment, vm: number): Candidate[] {
  const { pool, order } = assignment;
  const candidates = pool.hosts.ids.map((id, host): Candidate => {
    const refusals = refusalsOf(assignment, vm, host);
    if (refusals.length > 0) return { host: id, refusals };
    return { host: id, refusals, score: scoreOf(assignment, vm, host) };
  });
  // The sort is stable: ties stay in the order of ids.
  return candidates.sort((a, b) => {
    if (a.score === undefined || b.score === undefined)
      return Number(a.score === undefined) - Number(b.score === undefined);
    return compareScores(a.score, b.score, order);
  });
}
