import { SLACK } from "./formats/format.js";
import { Segment } from "./segment.js";

/** Space in front of a segment for the incomplete record of the previous segment, in bytes: the size of a large record. */
export const HEADROOM = 16 * 1024;

/** Maximum of unused buffers. Together with one under way from each thread this is enough for a continuous read. */
const MAX_BUFFERS = 4;

/**
 * Pool of full-size buffers whose memory pages are already mapped. Mapping fresh
 * pages (one page fault each) takes as long as reading the bytes. Workers do
 * this instead of the main thread: they return a mapped buffer with their
 * results, or the buffer that they have finished reading.
 */
export class SegmentPool {
  /** Size of a buffer, in bytes. */
  readonly bufferBytes: number;
  readonly #segmentBytes: number;
  readonly #buffers: ArrayBuffer[] = [];
  #requested = 0;

  constructor(segmentBytes: number) {
    this.#segmentBytes = segmentBytes;
    this.bufferBytes = HEADROOM + segmentBytes + SLACK;
  }

  /** A full-size segment with headroom. */
  acquire(): Segment {
    const buffer = this.#buffers.pop();
    return new Segment(this.#segmentBytes, HEADROOM, buffer);
  }

  /** @returns size of the buffer that a worker should return, in bytes; 0: none */
  requestSpare(): number {
    if (this.#buffers.length + this.#requested >= MAX_BUFFERS) return 0;
    this.#requested++;
    return this.bufferBytes;
  }

  /** Call once for each request; undefined: the worker failed. */
  addSpare(buffer: ArrayBuffer | undefined): void {
    this.#requested--;
    if (buffer !== undefined) this.#buffers.push(buffer);
  }
}
