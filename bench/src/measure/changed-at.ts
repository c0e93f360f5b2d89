/** What the simulator's churn writes into other_config of each VM that it changes: Unix time in ms. */
const KEY = Buffer.from('"sim:changed_at":"');

/** Reads the mark out of a record's JSON text without parsing it; undefined where there is none. */
export function changedAt(
  buffer: ArrayBuffer,
  offset: number,
  length: number,
): number | undefined {
  const text = Buffer.from(buffer, offset, length);
  const at = text.indexOf(KEY);
  if (at < 0) return undefined;
  const start = at + KEY.length;
  const end = text.indexOf(0x22, start);
  const value = Number(text.toString("latin1", start, end));
  return Number.isFinite(value) ? value : undefined;
}
