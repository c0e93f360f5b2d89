import { RepositoryError } from "../errors.js";

/** Reads exact numbers of bytes from a stream of buffers. */
export class ByteStream {
  readonly #iterator: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(buffers: AsyncIterable<Uint8Array>) {
    this.#iterator = buffers[Symbol.asyncIterator]();
  }

  /** Bytes that were read or skipped. */
  get position(): number {
    return this.#position;
  }

  async read(length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    await this.readInto(bytes);
    return bytes;
  }

  /** @throws RepositoryError `source-invalid` if the stream ends before */
  async readInto(target: Uint8Array): Promise<void> {
    if ((await this.readUpTo(target)) < target.length) throw this.endsEarly();
  }

  /** @returns the number of bytes: fewer than the target has room for only at the end of the stream */
  async readUpTo(target: Uint8Array): Promise<number> {
    let done = 0;
    while (done < target.length) {
      const part = await this.take(target.length - done);
      if (part === undefined) return done;
      target.set(part, done);
      done += part.length;
    }
    return done;
  }

  /** @throws RepositoryError `source-invalid` if the stream ends before */
  async skip(length: number): Promise<void> {
    for (let done = 0; done < length;) {
      const part = await this.take(length - done);
      if (part === undefined) throw this.endsEarly();
      done += part.length;
    }
  }

  /** Everything until the end, or undefined if that is more than `limit` bytes. */
  async rest(limit: number): Promise<Buffer | undefined> {
    const parts: Uint8Array[] = [];
    for (let done = 0; ;) {
      const part = await this.take(limit - done + 1);
      if (part === undefined) return Buffer.concat(parts);
      done += part.length;
      if (done > limit) return undefined;
      parts.push(part);
    }
  }

  /** The error of a stream that ends here, and must not. */
  endsEarly(): RepositoryError {
    return new RepositoryError(
      "source-invalid",
      `the stream ends after ${this.#position} bytes, before its content is complete`,
    );
  }

  /** Releases the stream. */
  async close(): Promise<void> {
    await this.#iterator.return?.();
  }

  /** The next bytes, at most `limit`; undefined at the end of the stream. */
  async take(limit: number): Promise<Uint8Array | undefined> {
    while (this.#rest.length === 0) {
      const next = await this.#iterator.next();
      if (next.done === true) return undefined;
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(part.length);
    this.#position += part.length;
    return part;
  }
}
