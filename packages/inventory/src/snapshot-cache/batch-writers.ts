import { BatchWriter } from "../store/batch-writer.js";

/** Writers that are kept: as many as files are written at a time. */
const MAX_WRITERS = 4;
/** A writer of a checkpoint has a few hundred KiB; one that has written whole pools is not kept. */
const MAX_BYTES = 512 * 1024;

/**
 * Writers that are used again, with their buffers: a pool is written every few
 * seconds, and each time its buffers would become garbage outside of the heap.
 */
export class BatchWriters {
  readonly #unused: BatchWriter[] = [];

  /** Number of unused writers. */
  get count(): number {
    return this.#unused.length;
  }

  /** @returns an empty writer, to be returned to `put` */
  take(): BatchWriter {
    return this.#unused.pop() ?? new BatchWriter();
  }

  /** @param writer nothing may use its batch any more */
  put(writer: BatchWriter): void {
    if (this.#unused.length >= MAX_WRITERS || writer.allocatedBytes > MAX_BYTES)
      return;
    writer.clear();
    this.#unused.push(writer);
  }
}
