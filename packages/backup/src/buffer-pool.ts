import { allocateForChunks } from "./format/compression.js";

/** Buffers of one size for chunks that are used again: garbage collection frees large ones late. */
export class BufferPool {
  readonly #size: number;
  readonly #free: Buffer[] = [];

  /** @param size of the buffers in bytes */
  constructor(size: number) {
    this.#size = size;
  }

  /** A buffer with any content. */
  take(): Buffer {
    return this.#free.pop() ?? allocateForChunks(this.#size);
  }

  /** Makes a buffer of `take` available again. */
  release(buffer: Buffer): void {
    this.#free.push(buffer);
  }
}
