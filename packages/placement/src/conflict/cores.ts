import { smallestHittingSet } from "./hitting-set.js";
import type { Oracle } from "./oracle.js";

/** A set of rules that cannot all hold, by number. */
export interface Core {
  readonly atoms: readonly number[];
  readonly size: "smallest" | "irreducible";
}

/** After so many rounds the smallest set is given up. */
const MOST_ROUNDS = 100;

/**
 * The smallest set of rules in conflict: whatever is in conflict has a rule
 * outside of each set of rules that can hold. So the smallest set that has one
 * of each such outside is tried; if it can hold, it grows to one more set that
 * can, and so on.
 * @returns undefined: not within the budget
 */
export function findSmallest(
  oracle: Oracle,
  atoms: readonly number[],
): Core | undefined {
  const outsides: (readonly number[])[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const tried = smallestHittingSet(outsides);
    if (tried === undefined) return undefined;
    const answer = oracle.ask(tried);
    if (answer === "no") return { atoms: tried, size: "smallest" };
    if (answer === "unknown") return undefined;
    const holding = new Set(tried);
    for (const atom of atoms)
      if (!holding.has(atom) && oracle.ask([...holding, atom]) === "yes")
        holding.add(atom);
    outsides.push(atoms.filter((atom) => !holding.has(atom)));
  }
  return undefined;
}

/**
 * A set of rules in conflict of which none can be left out, found by halves
 * (Junker's QuickXplain), and tried once more to be certain.
 * @param atoms are in conflict
 * @returns undefined: not within the budget
 */
export function findIrreducible(
  oracle: Oracle,
  atoms: readonly number[],
): Core | undefined {
  if (oracle.ask([]) === "no") return { atoms: [], size: "smallest" };
  const found = narrow(oracle, [], atoms).sort((a, b) => a - b);
  return isIrreducible(oracle, found)
    ? { atoms: found, size: "irreducible" }
    : undefined;
}

export function isIrreducible(
  oracle: Oracle,
  atoms: readonly number[],
): boolean {
  if (oracle.ask(atoms) !== "no") return false;
  return atoms.every(
    (left) => oracle.ask(atoms.filter((atom) => atom !== left)) === "yes",
  );
}

/** Of `among`, what is needed for a conflict with `given`. */
function narrow(
  oracle: Oracle,
  given: readonly number[],
  among: readonly number[],
): number[] {
  if (among.length < 2) return [...among];
  const half = among.length >> 1;
  const first = among.slice(0, half);
  const second = among.slice(half);
  const ofSecond =
    oracle.ask([...given, ...first]) === "no"
      ? []
      : narrow(oracle, [...given, ...first], second);
  const ofFirst =
    oracle.ask([...given, ...ofSecond]) === "no"
      ? []
      : narrow(oracle, [...given, ...ofSecond], first);
  return [...ofFirst, ...ofSecond];
}
