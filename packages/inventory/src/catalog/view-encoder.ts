import type { ViewObject } from "../views/view.js";
import { canonicalJson } from "./canonical-json.js";

const FIRST_BYTES = 64 << 10;
/** UTF-8 bytes that a code unit takes at most. */
const MOST_BYTES_A_UNIT = 3;

/** Encodes objects into a buffer of its own: most turn out as they were before, and need none to keep. */
export class ViewEncoder {
  #scratch = Buffer.allocUnsafeSlow(FIRST_BYTES);

  /** The object's canonical JSON, valid until the next call. */
  encode(view: ViewObject): Buffer {
    const text = canonicalJson(view);
    const most = text.length * MOST_BYTES_A_UNIT;
    if (most > this.#scratch.length)
      this.#scratch = Buffer.allocUnsafeSlow(2 * most);
    const length = this.#scratch.write(text, 0, "utf8");
    return this.#scratch.subarray(0, length);
  }
}

/** A copy with memory of its own: a slice of node's shared pool would keep all its neighbours. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
