import { Duplex } from "node:stream";

/** Length of the bytes that follow; 0: the end of this direction. */
const HEADER_BYTES = 4;

/**
 * Bytes that are passed through another process, in frames. The end of each direction is a frame of its own, so that
 * the end of a process that passes them on, which closes its connections, is not read as the end of what it was passing on.
 */
export class FramedStream extends Duplex {
  /** Of the frames, without their headers. */
  bytesRead = 0;
  bytesWritten = 0;
  readonly #connection: Duplex;
  #header: Buffer = Buffer.alloc(0);
  /** Bytes of the current frame that have not arrived. */
  #remaining = 0;
  #hasEnded = false;

  /** @param connection ends as its parameter `allowHalfOpen` says; nothing else uses it */
  constructor(connection: Duplex) {
    super({ allowHalfOpen: connection.allowHalfOpen });
    this.#connection = connection;
    connection.on("data", (bytes: Buffer) => {
      this.#onBytes(bytes);
    });
    connection.on("error", (error) => this.destroy(error));
    for (const event of ["end", "close"])
      connection.once(event, () => {
        this.#onEnd();
      });
    if (connection.destroyed) this.#onEnd();
  }

  override _read(): void {
    this.#connection.resume();
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    if (chunk.length === 0) {
      done();
      return;
    }
    this.bytesWritten += chunk.length;
    this.#connection.cork();
    this.#connection.write(headerOf(chunk.length));
    this.#connection.write(chunk, done);
    this.#connection.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#connection.end(headerOf(0), () => {
      done();
    });
  }

  override _destroy(
    error: Error | null,
    done: (error: Error | null) => void,
  ): void {
    this.#connection.destroy();
    done(error);
  }

  #onBytes(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && !this.destroyed) {
      if (this.#hasEnded) {
        this.destroy(new Error("bytes after the last frame"));
        return;
      }
      rest = this.#remaining === 0 ? this.#readHeader(rest) : this.#pass(rest);
    }
  }

  /** @returns the bytes after the header, or after a part of it */
  #readHeader(bytes: Buffer): Buffer {
    const missing = HEADER_BYTES - this.#header.length;
    this.#header = Buffer.concat([this.#header, bytes.subarray(0, missing)]);
    if (this.#header.length < HEADER_BYTES) return Buffer.alloc(0);
    this.#remaining = this.#header.readUInt32BE();
    this.#header = Buffer.alloc(0);
    if (this.#remaining === 0) {
      this.#hasEnded = true;
      this.push(null);
    }
    return bytes.subarray(missing);
  }

  /** @returns the bytes after those of the current frame */
  #pass(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#remaining);
    this.#remaining -= part.length;
    this.bytesRead += part.length;
    if (!this.push(part)) this.#connection.pause();
    return bytes.subarray(part.length);
  }

  #onEnd(): void {
    if (this.#hasEnded) return;
    this.destroy(new Error("the connection was closed before its end frame"));
  }
}

function headerOf(length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32BE(length);
  return header;
}
