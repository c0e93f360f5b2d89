/** So far is looked for what is implied; what is not found stays, which is right too. */
const MOST_STEPS = 64;

/**
 * Leaves out what has to have ended for another of the list to begin.
 * @param after indices, rising
 * @param of what each lower index comes after
 */
export function withoutImplied(
  after: readonly number[],
  of: readonly (readonly number[])[],
): number[] {
  const [first] = after;
  if (after.length < 2 || first === undefined) return [...after];
  const implied = new Set<number>();
  const open = [...after];
  for (let step = 0; step < MOST_STEPS && open.length > 0; step++)
    for (const before of of[open.pop()!]!) {
      if (before < first || implied.has(before)) continue;
      implied.add(before);
      open.push(before);
    }
  return after.filter((index) => !implied.has(index));
}
