import { dive } from "./dive.js";
import { Packing } from "./packing.js";
import type { Problem } from "./problem.js";
import { findProof } from "./proofs.js";
import { Search } from "./search.js";

/** Whether all units of a problem can be placed, and how. */
export interface Decision {
  /** unknown: the budget did not do. */
  readonly holds: "yes" | "no" | "unknown";
  /** All placed, if it holds. */
  readonly packing: Packing;
  /** What is left of the budget. */
  readonly budget: number;
}

/** Units times hosts, up to which units are spread one by one. */
const MOST_LOOKS = 1_000_000;

export function decide(problem: Problem, budget: number): Decision {
  const full = new Packing(problem);
  if (dive(full, "fullest")) return { holds: "yes", packing: full, budget };
  const packing = new Packing(problem);
  if (findProof(packing) !== undefined) return { holds: "no", packing, budget };
  if (packing.unplaced * problem.hosts <= MOST_LOOKS) {
    const spread = new Packing(problem);
    if (dive(spread, "emptiest"))
      return { holds: "yes", packing: spread, budget };
  }
  return decideHard(problem, budget);
}

/** The same where nothing is found at once, and no simple proof. */
export function decideHard(problem: Problem, budget: number): Decision {
  const search = new Search(problem, budget);
  const outcome = search.run();
  const holds = { found: "yes", none: "no", over: "unknown" } as const;
  const left = search.budget;
  return { holds: holds[outcome], packing: search.packing, budget: left };
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
