/**
 * Does something with each member, so many at a time, in their order.
 * @param isOver asked before each: the rest is left
 * @returns how many were left; a failure of one is the concern of `run`
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
