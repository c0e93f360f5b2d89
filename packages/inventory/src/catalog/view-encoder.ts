import type { ViewObject } from "../views/view.js";
import { canonicalMembers } from "./canonical-json.js";
import { membersOf, PlaceList, type MemberPlaces } from "./member-places.js";

const FIRST_BYTES = 64 << 10;
/** UTF-8 bytes that a code unit takes at most. */
const MOST_BYTES_A_UNIT = 3;

/** An object's canonical JSON, and where its members begin. */
export interface EncodedView {
  readonly bytes: Buffer;
  readonly members: MemberPlaces;
}

/** Encodes objects into a buffer of its own: most turn out as they were before, and need none to keep. */
export class ViewEncoder {
  #scratch = Buffer.allocUnsafeSlow(FIRST_BYTES);
  readonly #members = new PlaceList();
  readonly #onMember = (at: number) => {
    this.#members.add(at);
  };

  /** Valid until the next call. */
  encode(view: ViewObject): EncodedView {
    this.#members.clear();
    const text = canonicalMembers(view, this.#onMember);
    const most = text.length * MOST_BYTES_A_UNIT;
    if (most > this.#scratch.length)
      this.#scratch = Buffer.allocUnsafeSlow(2 * most);
    const length = this.#scratch.write(text, 0, "utf8");
    const bytes = this.#scratch.subarray(0, length);
    // Places are in code units: not those of the bytes where one takes several.
    if (length !== text.length) membersOf(bytes, this.#members);
    return { bytes, members: this.#members };
  }
}

/** A copy with memory of its own: a slice of node's shared pool would keep all its neighbours. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
