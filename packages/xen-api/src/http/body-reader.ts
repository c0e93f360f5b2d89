import { XoError } from "@xo-server/model";
import { ChunkedBody } from "./chunked-body.js";
import { bodyEnd, type ResponseHead } from "./response-head.js";

/** Destination of a body: the stream of the decoder, or the text of an error page. */
export interface BodySink {
  /** Free space for the next bytes, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes were written to space(). @returns false: pause until the owner calls `resume` of the connection */
  commit(length: number): boolean;
}

/**
 * Moves the bytes of one body from a socket to its sink. While the sink is full,
 * bytes that the socket still delivers (TLS has decrypted some) are buffered.
 */
export class BodyReader {
  readonly #sink: BodySink;
  readonly #chunks: ChunkedBody | undefined;
  readonly #limit: number;
  #remaining: number;
  #received = 0;
  #isPaused = false;
  #overflow: Uint8Array[] = [];
  #isComplete = false;

  /**
   * @param limit maximum size, in bytes
   * @throws XoError ANSWER_TOO_LARGE if the Content-Length exceeds `limit`
   */
  constructor(head: ResponseHead, sink: BodySink, limit: number) {
    const end = bodyEnd(head);
    this.#sink = sink;
    this.#limit = limit;
    this.#remaining = end.by === "length" ? end.length : Infinity;
    this.#chunks = end.by === "chunks" ? new ChunkedBody() : undefined;
    this.#isComplete = this.#remaining === 0;
    if (end.by === "length" && end.length > limit)
      throw tooLarge(end.length, limit);
  }

  /** All bytes have been passed to the sink. */
  get isComplete(): boolean {
    return this.#isComplete && this.#overflow.length === 0;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Bytes of the body received so far. */
  get received(): number {
    return this.#received;
  }

  /** Space for the socket to write into; undefined: the bytes must be passed to `write`. */
  space(): Uint8Array | undefined {
    if (this.#isPaused || this.#chunks !== undefined || this.#isComplete)
      return undefined;
    const space = this.#sink.space();
    return space.length > this.#remaining
      ? space.subarray(0, this.#remaining)
      : space;
  }

  /** The socket wrote `length` bytes to space(). */
  commit(length: number): void {
    this.#count(length);
    this.#remaining -= length;
    this.#isComplete = this.#remaining === 0;
    if (!this.#sink.commit(length)) this.#isPaused = true;
  }

  /**
   * Copies bytes to the sink.
   * @throws XoError ANSWER_TOO_LARGE; Error for bytes after the end or bad chunks
   */
  write(bytes: Uint8Array): void {
    if (this.#chunks !== undefined) {
      // Chunk framing counts as well: it costs as much to read.
      this.#count(bytes.length);
      this.#fill(this.#chunks.decode(bytes));
      this.#isComplete = this.#chunks.isDone;
      return;
    }
    if (bytes.length > this.#remaining)
      throw new Error("bytes after the end of the body");
    this.#remaining -= bytes.length;
    this.#isComplete = this.#remaining === 0;
    this.#count(bytes.length);
    this.#fill(bytes);
  }

  /** The sink has space again: passes on what was buffered. */
  resume(): void {
    this.#isPaused = false;
    const waiting = this.#overflow;
    this.#overflow = [];
    for (const bytes of waiting) this.#fill(bytes);
  }

  /** The connection ended. @returns whether the body is complete */
  end(): boolean {
    if (this.#remaining === Infinity && this.#chunks === undefined)
      this.#isComplete = true;
    return this.#isComplete;
  }

  #fill(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0 && !this.#isPaused) {
      const space = this.#sink.space();
      const length = Math.min(space.length, rest.length);
      space.set(rest.subarray(0, length));
      if (!this.#sink.commit(length)) this.#isPaused = true;
      rest = rest.subarray(length);
    }
    if (rest.length > 0) this.#overflow.push(rest.slice());
  }

  #count(length: number): void {
    this.#received += length;
    if (this.#received > this.#limit)
      throw tooLarge(this.#received, this.#limit);
  }
}

function tooLarge(bytes: number, limit: number): XoError {
  return new XoError("ANSWER_TOO_LARGE", { bytes, limit });
}
