/**
 * Results in the order of the items, while the next ones are under way.
 * @param ahead how many are under way at the same time
 */
export async function* readAhead<T, Result>(
  items: Iterable<T>,
  ahead: number,
  read: (item: T) => Promise<Result>,
): AsyncGenerator<Result, void> {
  const pending: Promise<Result>[] = [];
  try {
    for (const item of items) {
      const promise = read(item);
      // Thrown where its turn comes.
      promise.catch(() => undefined);
      pending.push(promise);
      if (pending.length >= ahead) yield await pending.shift()!;
    }
    while (pending.length > 0) yield await pending.shift()!;
  } finally {
    await Promise.allSettled(pending);
  }
}
