/** Of V8 of Node.js 20 and later; the library of ES2023 does not declare it. */
type Growable = new (
  size: number,
  options: { maxByteLength: number },
) => SharedArrayBuffer;

/**
 * Shared memory with zeros that begins at a page, as direct writes to files need it (`O_DIRECT`): V8 allocates growable memory by pages.
 * @param size in bytes
 */
export function allocateAligned(size: number): Buffer<SharedArrayBuffer> {
  const memory = new (SharedArrayBuffer as Growable)(size, {
    maxByteLength: size,
  });
  // With a length: a view without one follows the size of the memory, which takes longer.
  return Buffer.from(memory, 0, size);
}

/** Whether bytes are memory of {@link allocateAligned} from a multiple of `alignment` on. */
export function isAligned(bytes: Buffer, alignment: number): boolean {
  const { buffer, byteOffset } = bytes;
  return (
    byteOffset % alignment === 0 &&
    "growable" in buffer &&
    buffer.growable === true
  );
}
