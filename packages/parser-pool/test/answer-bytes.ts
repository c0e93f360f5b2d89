export const answer = (value: string) =>
  Buffer.from(`{"jsonrpc":"2.0","result":${value},"id":0}`);

/** `get_all_records` with `count` records of about 100 bytes. */
export function records(count: number): Buffer {
  const texts = Array.from(
    { length: count },
    (_, i) =>
      `"OpaqueRef:${i}":{"uuid":"${i}","name_label":"${"x".repeat(50)}"}`,
  );
  return answer(`{${texts.join()}}`);
}

/**
 * Resolves when the condition holds. It is evaluated in each of the next turns of the event
 * loop, then each millisecond: threads need the CPU.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++)
    await new Promise<void>((resolve) => {
      if (turn < 50) setImmediate(resolve);
      else setTimeout(resolve, 1);
    });
}
