import type { Readable } from "node:stream";

/** Reads a stream by numbers of bytes, independent of the chunks in which it arrives. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** @returns exactly `count` bytes, or undefined if the stream ends before */
  async read(count: number): Promise<Buffer | undefined> {
    while (this.#rest.length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) return undefined;
      this.#rest = Buffer.concat([this.#rest, next.value]);
    }
    const bytes = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return bytes;
  }

  /** Reads and discards `count` bytes. @returns false if the stream ends before */
  async skip(count: number): Promise<boolean> {
    let left = count;
    while (left > 0) {
      const bytes = await this.read(Math.min(left, 65536));
      if (bytes === undefined) return false;
      left -= bytes.length;
    }
    return true;
  }
}
