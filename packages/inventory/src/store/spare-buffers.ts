/**
 * Buffers of one size that are used again. Without it an unused buffer stays in memory
 * until V8 collects all garbage: it does so only when 64 MiB of buffers have become
 * garbage, and the memory of the process varies by as much.
 */
export class SpareBuffers {
  readonly bufferBytes: number;
  readonly #most: number;
  readonly #buffers: ArrayBuffer[] = [];

  /** @param most number of unused buffers; further ones are left to V8 */
  constructor(bufferBytes: number, most: number) {
    this.bufferBytes = bufferBytes;
    this.#most = most;
  }

  /** Number of unused buffers. */
  get count(): number {
    return this.#buffers.length;
  }

  /** @returns a buffer, which may have old content */
  take(): ArrayBuffer {
    return this.#buffers.pop() ?? new ArrayBuffer(this.bufferBytes);
  }

  /** @param buffer from `take`; nothing may read it any more */
  put(buffer: ArrayBuffer): void {
    if (this.#buffers.length < this.#most) this.#buffers.push(buffer);
  }
}
