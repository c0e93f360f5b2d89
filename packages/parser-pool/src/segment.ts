import { SLACK } from "./formats/format.js";

/**
 * Room that the socket fills. Behind what a format reads stand SLACK bytes; in
 * front there may be head room, for the unfinished end of the segment before.
 *
 *   |  head room  | tail | bytes of the answer ...... | free | SLACK |
 *                 ^start                              ^end   ^limit
 */
export class Segment {
  /** The whole of a buffer of its own: it can be transferred. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  start: number;
  end: number;
  /** Where the room ends. */
  readonly limit: number;

  /**
   * Room for `capacity` bytes and head room before them. The memory is not cleared.
   * @param buffer to be used; it has room for all that and SLACK
   */
  constructor(capacity: number, headroom: number, buffer?: ArrayBuffer) {
    this.limit = headroom + capacity;
    // allocUnsafeSlow: not cleared, and not a part of a pool that others share.
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

  /** Appends bytes for which there is room. */
  append(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.end);
    this.end += bytes.length;
  }

  /** Puts the tail of the segment before in front. @returns false when it does not fit the head room */
  prepend(tail: Uint8Array): boolean {
    if (tail.length > this.start) return false;
    this.start -= tail.length;
    this.bytes.set(tail, this.start);
    return true;
  }
}
