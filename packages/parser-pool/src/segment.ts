import { SLACK } from "./formats/format.js";

/**
 * Buffer that the socket fills. SLACK bytes follow the free space; the headroom
 * in front is for the incomplete record at the end of the previous segment.
 *
 *   |  head room  | tail | bytes of the answer ...... | free | SLACK |
 *                 ^start                              ^end   ^limit
 */
export class Segment {
  /** A view of the whole buffer, which can be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  start: number;
  end: number;
  /** End of the free space. */
  readonly limit: number;

  /**
   * Space for `capacity` bytes after `headroom` bytes. The memory is not cleared.
   * @param buffer buffer to use, at least of that size plus SLACK
   */
  constructor(capacity: number, headroom: number, buffer?: ArrayBuffer) {
    this.limit = headroom + capacity;
    // allocUnsafeSlow: not cleared, and not part of the shared pool of Buffer.
    this.bytes = new Uint8Array(
      buffer ?? Buffer.allocUnsafeSlow(this.limit + SLACK).buffer,
    );
    this.start = this.end = headroom;
  }

  get length(): number {
    return this.end - this.start;
  }

  get isFull(): boolean {
    return this.end === this.limit;
  }

  free(): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(this.end, this.limit);
  }

  /** Appends bytes; the caller ensures that they fit. */
  append(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** Copies the tail of the previous segment in front. @returns false if it does not fit the headroom */
  prepend(tail: Uint8Array): boolean {
    if (tail.length > this.start) return false;
    this.start -= tail.length;
    this.bytes.set(tail, this.start);
    return true;
  }
}
