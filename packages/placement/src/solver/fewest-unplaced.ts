import type { Assignment } from "../assignment/assignment.js";
import { decide, hostsIn } from "./decide.js";
import type { Unit } from "./placing-order.js";
import { toProblem } from "./problem.js";
import { allRules } from "./active-rules.js";

/** Maximum number of subsets that are tried. */
const MAX_SUBSETS = 400;

interface FewestUnplacedOptions {
  /** Units that may be left out. */
  readonly optional: readonly Unit[];
  /** All units. */
  readonly units: readonly Unit[];
  /** Fewer units than this must be left out. */
  readonly below: number;
  readonly budget: number;
}

/**
 * When not all units can be placed: searches for a solution that leaves out
 * fewer.
 * @param base has none of the units
 * @returns host of each placed VM; undefined: nothing better was found
 */
export function findFewestUnplaced(
  base: Assignment,
  { optional, units, below, budget }: FewestUnplacedOptions,
): ReadonlyMap<number, number> | undefined {
  const rules = allRules(base);
  let choices = 0;
  for (let size = 1; size < below; size++)
    for (const out of subsets(optional, size)) {
      if (++choices > MAX_SUBSETS) return undefined;
      const vms = units.filter((unit) => !out.includes(unit)).flat();
      vms.sort((a, b) => a - b);
      const problem = toProblem(base, vms, rules);
      const { isFeasible: holds, packing } = decide(
        problem,
        budget / MAX_SUBSETS,
      );
      if (holds === "yes") return hostsIn(packing);
    }
  return undefined;
}

/** All subsets of the given size. */
function* subsets(
  from: readonly Unit[],
  size: number,
): Generator<readonly Unit[]> {
  if (size === 0) yield [];
  for (let at = 0; at <= from.length - size && size > 0; at++)
    for (const rest of subsets(from.slice(at + 1), size - 1))
      yield [from[at]!, ...rest];
}
