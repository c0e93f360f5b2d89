/** Reads the first part of a content, so that a failure is known before anything is sent. */
export async function begun(
  content: AsyncIterable<Buffer>,
): Promise<AsyncIterable<Buffer>> {
  const iterator = content[Symbol.asyncIterator]();
  let first: IteratorResult<Buffer> | undefined = await iterator.next();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const result = first ?? (await iterator.next());
        first = undefined;
        return result;
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}
