import { XoError } from "@xo-server/model";
import { ChunkedBody } from "./chunked-body.js";
import { bodyEnd, type ResponseHead } from "./response-head.js";

/** Where the bytes of a body go: the decoder's stream, or a short text. */
export interface BodySink {
  /** Room for the next bytes, never empty; valid until the next call. */
  space(): Uint8Array;
  /** `length` bytes stand in space(). False: no more until the owner calls `resume` of the connection. */
  commit(length: number): boolean;
}

/**
 * Brings the bytes of one body from a socket to its sink. While the sink is
 * full, what the socket still delivers (TLS has some in hand) waits here.
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
   * @param limit most bytes taken
   * @throws XoError ANSWER_TOO_LARGE where the head says so already
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

  /** The last byte has been handed over. */
  get isComplete(): boolean {
    return this.#isComplete && this.#overflow.length === 0;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Bytes of content so far. */
  get received(): number {
    return this.#received;
  }

  /** Room for the socket to write into, undefined when the bytes must come by `take`. */
  space(): Uint8Array | undefined {
    if (this.#isPaused || this.#chunks !== undefined || this.#isComplete)
      return undefined;
    const space = this.#sink.space();
    return space.length > this.#remaining
      ? space.subarray(0, this.#remaining)
      : space;
  }

  /** The socket wrote `length` bytes into space(). */
  commit(length: number): void {
    this.#count(length);
    this.#remaining -= length;
    this.#isComplete = this.#remaining === 0;
    if (!this.#sink.commit(length)) this.#isPaused = true;
  }

  /**
   * Bytes that stand elsewhere: they are copied.
   * @throws XoError ANSWER_TOO_LARGE; Error for bytes after the end or bad chunks
   */
  write(bytes: Uint8Array): void {
    if (this.#chunks !== undefined) {
      for (const piece of this.#chunks.decode(bytes)) this.#copy(piece);
      this.#isComplete = this.#chunks.isDone;
      return;
    }
    if (bytes.length > this.#remaining)
      throw new Error("bytes after the end of the body");
    this.#remaining -= bytes.length;
    this.#isComplete = this.#remaining === 0;
    this.#copy(bytes);
  }

  /** The sink has room again: hands over what waited. */
  resume(): void {
    this.#isPaused = false;
    const waiting = this.#overflow;
    this.#overflow = [];
    for (const bytes of waiting) this.#fill(bytes);
  }

  /** The connection ended: was the body to end so? */
  end(): boolean {
    if (this.#remaining === Infinity && this.#chunks === undefined)
      this.#isComplete = true;
    return this.#isComplete;
  }

  #copy(bytes: Uint8Array): void {
    this.#count(bytes.length);
    this.#fill(bytes);
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
