import { badAnswer, NEED_MORE, describeByte } from "./bad-input.js";
import type { XmlTag } from "./xml-tag.js";

const LT = 0x3c;
const GT = 0x3e;

/** Longer than any tag of XML-RPC. */
const LONGEST_TAG = 64;

/**
 * Reads the markup of XML-RPC. Fast for tags as XAPI writes them; white space
 * around and within tags is accepted too.
 *
 * Every method takes a position and returns the position after what it read.
 * At the end of the bytes it throws NEED_MORE, or BAD_ANSWER when no more follow.
 */
export class XmlCursor {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  readonly end: number;
  readonly final: boolean;

  /** `bytes[end]` is overwritten: a zero there ends every loop without a bounds check. */
  constructor(bytes: Uint8Array<ArrayBuffer>, end: number, final: boolean) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = end;
    this.final = final;
    bytes[end] = 0;
  }

  space(pos: number): number {
    const { bytes } = this;
    let at = pos;
    for (let c = bytes[at]!; c <= 0x20; c = bytes[++at]!)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
    return at;
  }

  /** Skips white space, then `tag`. */
  expect(pos: number, tag: XmlTag): number {
    const at = this.accept(pos, tag);
    if (at < 0) throw this.unexpected(this.space(pos), tag.text);
    return at;
  }

  /** Skips `tag` exactly as XAPI writes it; -1 if it is not at `pos`. */
  quick(pos: number, tag: XmlTag): number {
    const after = pos + tag.length;
    return after <= this.end && tag.isAt(this.view, pos) ? after : -1;
  }

  /** Skips white space, then `tag`; -1 if there is something else. */
  accept(pos: number, tag: XmlTag): number {
    const after = this.quick(pos, tag);
    if (after >= 0) return after;
    const at = this.space(pos);
    if (at < this.end && this.bytes[at] !== LT) return -1;
    return this.tag(pos) === tag.text ? this.tagEnd : -1;
  }

  /** The name of the tag at `pos` as in `<name>`, `</name>` or `<name/>`, without white space. `tagEnd` is the position after the tag. */
  tagEnd = 0;
  tag(pos: number): string {
    const { bytes } = this;
    const start = this.space(pos);
    if (bytes[start] !== LT) throw this.unexpected(start, "a tag");
    let at = start + 1;
    while (bytes[at] !== GT) {
      if (at >= this.end) throw this.missing();
      if (at - start > LONGEST_TAG) throw badAnswer("an unknown tag");
      at++;
    }
    this.tagEnd = at + 1;
    const text = Buffer.from(bytes.buffer, start, at + 1 - start).toString();
    return text.replace(/\s*(\/?>)$/, "$1");
  }

  /** The error to throw if the bytes at `pos` are not `expected`. */
  unexpected(pos: number, expected: string): Error {
    const { bytes, end } = this;
    if (pos >= end) return this.missing();
    if (bytes[pos] !== LT)
      return badAnswer(`${describeByte(bytes[pos])} instead of ${expected}`);
    return badAnswer(`${this.tag(pos)} instead of ${expected}`);
  }

  /** The error to throw at the end of the bytes. */
  missing(): Error {
    return this.final ? badAnswer("unexpected end") : NEED_MORE;
  }
}
