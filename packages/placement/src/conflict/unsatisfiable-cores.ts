import { smallestHittingSet } from "./hitting-set.js";
import type { FeasibilityOracle } from "./feasibility-oracle.js";

/** A set of rules that cannot all hold, by number. */
export interface UnsatisfiableCore {
  readonly constraints: readonly number[];
  readonly size: "smallest" | "irreducible";
}

/** Limit of iterations of the search for a smallest core. */
const MAX_ROUNDS = 100;

/**
 * The smallest unsatisfiable core, by implicit hitting sets: every core
 * contains a rule outside each satisfiable set. A smallest hitting set of these
 * complements is tested; if it is satisfiable, it is grown to a maximal
 * satisfiable set, whose complement is added.
 * @returns undefined: not found within the budget
 */
export function findSmallestCore(
  oracle: FeasibilityOracle,
  constraints: readonly number[],
): UnsatisfiableCore | undefined {
  const outsides: (readonly number[])[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const tried = smallestHittingSet(outsides);
    if (tried === undefined) return undefined;
    const answer = oracle.isFeasible(tried);
    if (answer === "no") return { constraints: tried, size: "smallest" };
    if (answer === "unknown") return undefined;
    const holding = new Set(tried);
    for (const constraint of constraints)
      if (
        !holding.has(constraint) &&
        oracle.isFeasible([...holding, constraint]) === "yes"
      )
        holding.add(constraint);
    outsides.push(constraints.filter((constraint) => !holding.has(constraint)));
  }
  return undefined;
}

/**
 * An irreducible core by Junker's QuickXplain, verified at the end.
 * @param constraints cannot all hold
 * @returns undefined: not found within the budget
 */
export function findIrreducibleCore(
  oracle: FeasibilityOracle,
  constraints: readonly number[],
): UnsatisfiableCore | undefined {
  if (oracle.isFeasible([]) === "no")
    return { constraints: [], size: "smallest" };
  const found = quickXplain(oracle, [], constraints).sort((a, b) => a - b);
  return isIrreducible(oracle, found)
    ? { constraints: found, size: "irreducible" }
    : undefined;
}

/**
 * Whether the rules cannot all hold, but would without any one of them.
 * @returns false also if the budget did not suffice to find out
 */
export function isIrreducible(
  oracle: FeasibilityOracle,
  constraints: readonly number[],
): boolean {
  if (oracle.isFeasible(constraints) !== "no") return false;
  return constraints.every(
    (left) =>
      oracle.isFeasible(
        constraints.filter((constraint) => constraint !== left),
      ) === "yes",
  );
}

/** The part of `candidates` that is needed for a conflict with `background`. */
function quickXplain(
  oracle: FeasibilityOracle,
  background: readonly number[],
  candidates: readonly number[],
): number[] {
  if (candidates.length < 2) return [...candidates];
  const half = candidates.length >> 1;
  const first = candidates.slice(0, half);
  const second = candidates.slice(half);
  const ofSecond =
    oracle.isFeasible([...background, ...first]) === "no"
      ? []
      : quickXplain(oracle, [...background, ...first], second);
  const ofFirst =
    oracle.isFeasible([...background, ...ofSecond]) === "no"
      ? []
      : quickXplain(oracle, [...background, ...ofSecond], first);
  return [...ofFirst, ...ofSecond];
}
