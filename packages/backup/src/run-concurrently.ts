/**
 * Handles items several at a time. After an error no further item is begun.
 * @throws the first error, once all that had begun have ended
 */
export async function runConcurrently<T>(
  items: Iterable<T>,
  concurrency: number,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failure: { error: unknown } | undefined;
  const worker = async (): Promise<void> => {
    while (failure === undefined) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await handle(next.value);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failure !== undefined) throw failure.error;
}
