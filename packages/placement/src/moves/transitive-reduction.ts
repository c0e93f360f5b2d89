/**
 * Limit of the search. A redundant dependency that is not found stays, which is
 * harmless.
 */
const MAX_STEPS = 64;

/**
 * Removes dependencies that are implied by others of the list.
 * @param after indices, ascending
 * @param of the dependencies of each lower index
 */
export function withoutImplied(
  after: readonly number[],
  of: readonly (readonly number[])[],
): number[] {
  const [first] = after;
  if (after.length < 2 || first === undefined) return [...after];
  const implied = new Set<number>();
  const open = [...after];
  for (let step = 0; step < MAX_STEPS && open.length > 0; step++)
    for (const before of of[open.pop()!]!) {
      if (before < first || implied.has(before)) continue;
      implied.add(before);
      open.push(before);
    }
  return after.filter((index) => !implied.has(index));
}
