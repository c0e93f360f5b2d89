/** Limit of search steps per size. */
const MAX_STEPS = 20_000;

/**
 * The smallest set with at least one number of each list; ties are resolved by
 * the order of the numbers in the lists.
 * @returns undefined: a list is empty, or the limit was exceeded
 */
export function smallestHittingSet(
  lists: readonly (readonly number[])[],
): readonly number[] | undefined {
  const minimal = withoutSupersets(lists);
  if (minimal.some((list) => list.length === 0)) return undefined;
  for (let size = 0; size <= minimal.length; size++) {
    const checks = { left: MAX_STEPS };
    const found = hit(minimal, size, checks);
    if (found !== undefined) return found.sort((a, b) => a - b);
    if (checks.left < 0) return undefined;
  }
  return undefined;
}

/** A superset of another list is hit whenever that list is. */
function withoutSupersets(
  lists: readonly (readonly number[])[],
): readonly (readonly number[])[] {
  const distinct = new Map(lists.map((list) => [list.join(), list]));
  const sorted = [...distinct.values()].sort((a, b) => a.length - b.length);
  const kept: (readonly number[])[] = [];
  for (const list of sorted) {
    const has = new Set(list);
    if (!kept.some((other) => other.every((one) => has.has(one))))
      kept.push(list);
  }
  return kept;
}

function hit(
  lists: readonly (readonly number[])[],
  size: number,
  checks: { left: number },
): number[] | undefined {
  const [first] = lists;
  if (first === undefined) return [];
  if (size === 0 || --checks.left < 0) return undefined;
  for (const number of first) {
    const rest = lists.filter((list) => !list.includes(number));
    const found = hit(rest, size - 1, checks);
    if (found !== undefined) return [number, ...found];
  }
  return undefined;
}
