import type { Layout } from "../layout/layout.js";
import { decide, hostsIn } from "./decide.js";
import type { Unit } from "./placing-order.js";
import { toProblem } from "./problem.js";
import { allRules } from "./rules-in-force.js";

/** So many choices of who is left out are tried. */
const MOST_CHOICES = 400;

export interface FewestOut {
  /** Who can be left out. */
  readonly optional: readonly Unit[];
  /** All units. */
  readonly units: readonly Unit[];
  /** Fewer than so many are to be left out. */
  readonly below: number;
  readonly budget: number;
}

/**
 * Where not all can be placed: whether they can with fewer left out.
 * @param base has none of them
 * @returns hosts of those that are not left out; undefined: nothing was found
 */
export function findFewestOut(
  base: Layout,
  { optional, units, below, budget }: FewestOut,
): ReadonlyMap<number, number> | undefined {
  const rules = allRules(base);
  let choices = 0;
  for (let size = 1; size < below; size++)
    for (const out of choose(optional, size)) {
      if (++choices > MOST_CHOICES) return undefined;
      const vms = units.filter((unit) => !out.includes(unit)).flat();
      vms.sort((a, b) => a - b);
      const problem = toProblem(base, vms, rules);
      const { holds, packing } = decide(problem, budget / MOST_CHOICES);
      if (holds === "yes") return hostsIn(packing);
    }
  return undefined;
}

/** All choices of so many. */
function* choose(
  from: readonly Unit[],
  size: number,
): Generator<readonly Unit[]> {
  if (size === 0) yield [];
  for (let at = 0; at <= from.length - size && size > 0; at++)
    for (const rest of choose(from.slice(at + 1), size - 1))
      yield [from[at]!, ...rest];
}
