import { MemberCursor } from "./member-cursor.js";

/**
 * Byte offsets of the members of an object in canonical JSON: of the opening
 * quotes of their keys, in order.
 */
export interface MemberOffsets {
  /** Only the first `count` entries are valid. */
  readonly offsets: Int32Array;
  readonly count: number;
}

/** A growing list of offsets, reused between objects. */
export class OffsetList implements MemberOffsets {
  offsets = new Int32Array(64);
  count = 0;

  add(offset: number): void {
    if (this.count === this.offsets.length) {
      const grown = new Int32Array(2 * this.count);
      grown.set(this.offsets);
      this.offsets = grown;
    }
    this.offsets[this.count++] = offset;
  }

  clear(): void {
    this.count = 0;
  }
}

/** Finds the members of an object. */
export function findMembers(
  bytes: Uint8Array,
  list: OffsetList = new OffsetList(),
): MemberOffsets {
  list.clear();
  const cursor = new MemberCursor(bytes, 0);
  for (; cursor.hasMember; cursor.next()) list.add(cursor.keyStart);
  return list;
}
