import { BufferPool } from "../buffer-pool.js";
import { RepositoryError } from "../errors.js";
import { ByteStream } from "../vhd/byte-stream.js";
import type { BlockStream, StreamPart } from "../write/block-source.js";

const PART_SIZE = 1024 * 1024;

/** Content that arrives as a stream: a raw image of a known size, or a file whose size is known at its end. */
export class RawStream implements BlockStream {
  readonly total: number | undefined;
  readonly isOrdered = true;
  readonly #open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>;
  readonly #maxSize: number;
  #size: number;

  /**
   * @param size bytes: the stream must have exactly these; or `{ maxSize }`, where it may have fewer
   */
  constructor(
    size: number | { readonly maxSize: number },
    open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>,
  ) {
    this.total = typeof size === "number" ? size : undefined;
    this.#size = this.total ?? 0;
    this.#maxSize = typeof size === "number" ? size : size.maxSize;
    this.#open = open;
  }

  /** What has arrived, while the size is not known. */
  get size(): number {
    return this.#size;
  }

  /** @throws RepositoryError `source-invalid` if the stream has another size, or more than its maximum */
  async *parts(signal?: AbortSignal): AsyncGenerator<StreamPart, void> {
    const pool = new BufferPool(PART_SIZE);
    const stream = new ByteStream(this.#open(signal));
    try {
      for (let offset = 0; offset < this.#maxSize; offset += PART_SIZE) {
        const length = Math.min(PART_SIZE, this.#maxSize - offset);
        const buffer = pool.take();
        const read = await stream.readUpTo(buffer.subarray(0, length));
        if (read < length && this.total !== undefined) throw stream.endsEarly();
        if (read === 0) return;
        this.#size = Math.max(this.#size, offset + read);
        const bytes = buffer.subarray(0, read);
        yield { offset, bytes, release: () => pool.release(buffer) };
        if (read < length) return;
      }
      // More bytes are an error of the server, which may be in the data too.
      const rest = await stream.rest(0);
      if (rest === undefined)
        throw new RepositoryError(
          "source-invalid",
          `the stream has more than ${this.#maxSize} bytes`,
        );
    } finally {
      await stream.close();
    }
  }
}
