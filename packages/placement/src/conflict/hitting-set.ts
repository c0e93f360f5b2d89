/** Beyond so many looks the smallest set is not certain. */
const MOST_LOOKS = 20_000;

/**
 * The smallest set of numbers with one of each list; of equal ones the first
 * that is found by the order of the numbers in the lists.
 * @returns undefined: a list is empty, or there are too many
 */
export function smallestHittingSet(
  lists: readonly (readonly number[])[],
): readonly number[] | undefined {
  const wanted = withoutWider(lists);
  if (wanted.some((list) => list.length === 0)) return undefined;
  for (let size = 0; size <= wanted.length; size++) {
    const looks = { left: MOST_LOOKS };
    const found = hit(wanted, size, looks);
    if (found !== undefined) return found.sort((a, b) => a - b);
    if (looks.left < 0) return undefined;
  }
  return undefined;
}

/** A list that has all of another one is hit with it. */
function withoutWider(
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
  looks: { left: number },
): number[] | undefined {
  const [first] = lists;
  if (first === undefined) return [];
  if (size === 0 || --looks.left < 0) return undefined;
  for (const number of first) {
    const rest = lists.filter((list) => !list.includes(number));
    const found = hit(rest, size - 1, looks);
    if (found !== undefined) return [number, ...found];
  }
  return undefined;
}
