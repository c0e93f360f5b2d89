import type { ViewObject } from "../views/view.js";
import { canonicalMembers } from "./canonical-json.js";
import {
  findMembers,
  OffsetList,
  type MemberOffsets,
} from "./member-offsets.js";

const INITIAL_BYTES = 64 << 10;
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;

/** Canonical JSON of an object, and the offsets of its members. */
export interface EncodedView {
  readonly bytes: Buffer;
  readonly members: MemberOffsets;
}

/**
 * Encodes objects into a scratch buffer: most turn out to be unchanged and need
 * no copy.
 */
export class ViewEncoder {
  #scratch = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  readonly #members = new OffsetList();
  readonly #onMember = (at: number) => {
    this.#members.add(at);
  };

  /** The result is valid until the next call. */
  encode(view: ViewObject): EncodedView {
    this.#members.clear();
    const text = canonicalMembers(view, this.#onMember);
    const maxBytes = text.length * MAX_BYTES_PER_UNIT;
    if (maxBytes > this.#scratch.length)
      this.#scratch = Buffer.allocUnsafeSlow(2 * maxBytes);
    const length = this.#scratch.write(text, 0, "utf8");
    const bytes = this.#scratch.subarray(0, length);
    // Offsets were in code units, which differ from bytes when the text is not
    // ASCII.
    if (length !== text.length) findMembers(bytes, this.#members);
    return { bytes, members: this.#members };
  }
}

/**
 * A copy in its own allocation: a slice of Node's shared pool would retain its
 * neighbours.
 */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
