import { SLACK } from "./formats/format.js";
import { Segment } from "./segment.js";

/** Room in front of a segment for the unfinished record of the one before: the largest usual record. */
export const HEADROOM = 16 * 1024;

/** Buffers that wait; with one on its way from each thread, that is enough to keep a reader going. */
const MAX_BUFFERS = 4;

/**
 * Full-size buffers whose memory is there already. The kernel hands out fresh
 * pages one fault at a time, which takes as long as reading the bytes does: the
 * workers, who have the time, do that for the main thread and send a buffer
 * with their results, or give back one that they have done with.
 */
export class SegmentPool {
  /** Bytes of a buffer. */
  readonly bufferBytes: number;
  readonly #segmentBytes: number;
  readonly #buffers: ArrayBuffer[] = [];
  #requested = 0;

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes;
    this.bufferBytes = HEADROOM + segmentBytes + SLACK;
  }

  /** A full-size segment with head room. */
  take(): Segment {
    const buffer = this.#buffers.pop();
    return new Segment(this.#segmentBytes, HEADROOM, buffer);
  }

  /** Bytes of the buffer that a worker should send along; 0: none. */
  requestSpare(): number {
    if (this.#buffers.length + this.#requested >= MAX_BUFFERS) return 0;
    this.#requested++;
    return this.bufferBytes;
  }

  /** What came of an order; undefined where the worker failed. */
  addSpare(buffer: ArrayBuffer | undefined): void {
    this.#requested--;
    if (buffer !== undefined) this.#buffers.push(buffer);
  }
}
