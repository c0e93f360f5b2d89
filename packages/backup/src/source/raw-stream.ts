import { BufferPool } from "../buffer-pool.js";
import { RepositoryError } from "../errors.js";
import { ByteStream } from "../vhd/byte-stream.js";
import type { BlockStream, StreamPart } from "../write/block-source.js";

const PART_SIZE = 1024 * 1024;

/** A raw image that arrives as a stream of a known size. */
export class RawStream implements BlockStream {
  readonly size: number;
  readonly total: number;
  readonly isOrdered = true;
  readonly #open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>;

  /** @param size bytes of the disk: the stream must have exactly these */
  constructor(
    size: number,
    open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>,
  ) {
    this.size = size;
    this.total = size;
    this.#open = open;
  }

  async *parts(signal?: AbortSignal): AsyncGenerator<StreamPart, void> {
    const pool = new BufferPool(PART_SIZE);
    const stream = new ByteStream(this.#open(signal));
    try {
      for (let offset = 0; offset < this.size; offset += PART_SIZE) {
        const length = Math.min(PART_SIZE, this.size - offset);
        const buffer = pool.take();
        const bytes = buffer.subarray(0, length);
        await stream.readInto(bytes);
        yield { offset, bytes, release: () => pool.release(buffer) };
      }
      // More bytes are an error of the server, which may be in the data too.
      const rest = await stream.rest(0);
      if (rest === undefined)
        throw new RepositoryError(
          "source-invalid",
          `the stream has more than the ${this.size} bytes of the disk`,
        );
    } finally {
      await stream.close();
    }
  }
}
