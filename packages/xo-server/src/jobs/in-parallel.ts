/**
 * Processes the items in order with limited concurrency. `run` must handle its
 * own errors.
 * @param isOver checked before each item; when true, the remaining items are
 *   skipped
 * @returns number of skipped items
 */
export async function inParallel<T>(
  members: readonly T[],
  { concurrency, isOver }: { concurrency: number; isOver: () => boolean },
  run: (member: T) => Promise<void>,
): Promise<number> {
  let next = 0;
  const lane = async () => {
    while (next < members.length && !isOver()) await run(members[next++]!);
  };
  const lanes = Math.min(concurrency, members.length);
  await Promise.all(Array.from({ length: lanes }, lane));
  return members.length - next;
}
