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

/** Resolves when `is` holds; asks again after each turn of the event loop. */
export async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setImmediate(resolve));
}
