/**
 * Copies bytes, as many as fit. Where one side is shared memory, V8 copies byte by byte unless both addresses have the
 * same remainder by 8, which takes ten times as long; `fill` is native code for any memory (docs/decisions/057).
 * @param at where in the target the copy begins
 * @returns the number of bytes copied
 */
export function copyBytes(source: Uint8Array, target: Buffer, at = 0): number {
  const length = Math.min(source.length, target.length - at);
  if (length <= 0) return 0;
  const bytes = length < source.length ? source.subarray(0, length) : source;
  const isAlike = (target.byteOffset + at - bytes.byteOffset) % 8 === 0;
  if (!isAlike && (isShared(source) || isShared(target)))
    target.fill(bytes, at, at + length);
  else target.set(bytes, at);
  return length;
}

function isShared({ buffer }: Uint8Array): boolean {
  return buffer instanceof SharedArrayBuffer;
}
