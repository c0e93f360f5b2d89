import { fitDecreasing } from "./fit-decreasing.js";
import { Packing } from "./packing.js";
import type { PackingProblem } from "./problem.js";
import { findInfeasibilityProof } from "./infeasibility.js";
import { DepthFirstSearch } from "./search.js";

/** Whether all units of a problem can be placed. */
interface Decision {
  /** unknown: the budget was spent. */
  readonly isFeasible: "yes" | "no" | "unknown";
  /** Complete when feasible. */
  readonly packing: Packing;
  /** What remains of the budget. */
  readonly budget: number;
}

/** Limit of units times hosts for the worst-fit pass. */
const MAX_CHECKS = 1_000_000;

/**
 * Decides whether all units can be placed: best-fit decreasing, proofs of
 * infeasibility, worst-fit decreasing, then depth-first search.
 * @param budget steps of the search
 */
export function decide(problem: PackingProblem, budget: number): Decision {
  const full = new Packing(problem);
  if (fitDecreasing(full, "fullest"))
    return { isFeasible: "yes", packing: full, budget };
  const packing = new Packing(problem);
  if (findInfeasibilityProof(packing) !== undefined)
    return { isFeasible: "no", packing, budget };
  if (packing.unplaced * problem.hosts <= MAX_CHECKS) {
    const spread = new Packing(problem);
    if (fitDecreasing(spread, "emptiest"))
      return { isFeasible: "yes", packing: spread, budget };
  }
  return decideBySearch(problem, budget);
}

/** Depth-first search, after the heuristics and simple proofs have failed. */
export function decideBySearch(
  problem: PackingProblem,
  budget: number,
): Decision {
  const search = new DepthFirstSearch(problem, budget);
  const outcome = search.run();
  const holds = { found: "yes", none: "no", over: "unknown" } as const;
  const left = search.budget;
  return { isFeasible: holds[outcome], packing: search.packing, budget: left };
}

/** Host of each VM of a packing. */
export function hostsIn({ problem, steps }: Packing): Map<number, number> {
  const next = new Int32Array(problem.kinds.length);
  const hosts = new Map<number, number>();
  for (let at = 0; at < steps.length; at += 2) {
    const kind = steps[at]!;
    const unit = problem.kinds[kind]!.units[next[kind]!++]!;
    for (const vm of unit) hosts.set(vm, steps[at + 1]!);
  }
  return hosts;
}
