/**
 * Runs `work` for each item, `width` at a time, in their order. The first
 * failure aborts the rest, and is thrown when all started items have ended.
 */
export async function inParallel<Item>(
  items: readonly Item[],
  width: number,
  outer: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([outer, failure.signal]);
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) {
      if (signal.aborted) return;
      try {
        await work(item, signal);
      } catch (error) {
        failure.abort(error);
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  if (failure.signal.aborted) throw failure.signal.reason;
}
