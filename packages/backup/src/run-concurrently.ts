/**
 * Handles items several at a time. After an error no further item is begun.
 * @throws the first error, once all that had begun have ended
 */
export async function runConcurrently<T>(
  items: Iterable<T> | AsyncGenerator<T, void>,
  concurrency: number,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  const iterator =
    Symbol.asyncIterator in items ? items : items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (failure === undefined) {
      try {
        const next = await iterator.next();
        // Another one may have failed while this one waited.
        if (next.done === true || failure !== undefined) return;
        await handle(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure === undefined) return;
  try {
    // A generator releases what it holds.
    await iterator.return?.(undefined);
  } catch {
    // Its error follows from the first one.
  }
  throw failure.error;
}
