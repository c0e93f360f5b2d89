import { badAnswer, NEED_MORE, shown, tooDeep } from "./bad-input.js";
import type { NameIndex } from "./name-index.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

/** No number that XAPI prints is longer (a double in full has 309 digits), and a BigInt of millions of digits would block. */
const LONGEST_NUMBER = 512;

const WORDS = ["true", "false", "null", "NaN", "Infinity", "-Infinity"].map(
  (text) => ({ bytes: Buffer.from(text), lenient: /[NI]/.test(text) }),
);

/**
 * Walks over JSON text without making anything of it: the whole grammar is
 * checked, strings are skipped four bytes at a time, and on the way the columns
 * of a record are noted. Bare NaN and Infinity, and integers past 2^53, are let
 * through and set `lenient`.
 *
 * Every method takes a position and returns the position behind what it read.
 * At the end of the bytes it throws NEED_MORE, or BAD_ANSWER when no more follow.
 */
export class JsonScanner {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  readonly end: number;
  readonly final: boolean;
  readonly #maxDepth: number;
  /** What was read since it was last set to false is not strict JSON. */
  lenient = false;
  /** Number of escapes read: tells whether a string is its own text. */
  escapes = 0;
  #columns: NameIndex | undefined;
  #pairs: Int32Array = new Int32Array(0);
  #pairsAt = 0;

  /** `bytes[end]` is overwritten: a zero there ends every loop without a bounds check. */
  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    end: number,
    { final, maxDepth }: { final: boolean; maxDepth: number },
  ) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = end;
    this.final = final;
    this.#maxDepth = maxDepth;
    bytes[end] = 0;
  }

  /** The bytes as text; what is not UTF-8 becomes U+FFFD. */
  text(start: number, end: number): string {
    return Buffer.from(this.bytes.buffer, start, end - start).toString();
  }

  space(pos: number): number {
    const bytes = this.bytes;
    let at = pos;
    for (let c = bytes[at]!; c <= 0x20; c = bytes[++at]!)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
    return at;
  }

  /** White space, then a byte that is not the end. */
  peek(pos: number): number {
    const at = this.space(pos);
    if (at >= this.end) throw this.missing();
    return at;
  }

  /** White space, then `byte`. */
  expect(pos: number, byte: number): number {
    const at = this.peek(pos);
    if (this.bytes[at] !== byte) throw this.unexpected(at, shown(byte));
    return at + 1;
  }

  /** White space and a key with its colon; the key's text is `[keyStart..keyEnd)`. */
  keyStart = 0;
  keyEnd = 0;
  key(pos: number): number {
    const start = this.expect(pos, QUOTE);
    const end = this.string(start);
    this.keyStart = start;
    this.keyEnd = end - 1;
    return this.peek(this.expect(end, COLON));
  }

  /** The value at `pos`, which stands within `depth` levels. */
  value(pos: number, depth: number): number {
    const c = this.bytes[pos]!;
    if (c === QUOTE) return this.string(pos + 1);
    if (c === OPEN_BRACE) return this.#object(pos + 1, depth + 1);
    if (c === OPEN_BRACKET) return this.#array(pos + 1, depth + 1);
    if (c >= ZERO && c <= NINE) return this.#number(pos, pos);
    if (c === MINUS && this.bytes[pos + 1] !== 0x49)
      return this.#number(pos, pos + 1);
    return this.#word(pos);
  }

  /** An object whose brace is at `pos`; where its columns lie is written to `to`. */
  record(
    pos: number,
    depth: number,
    columns: NameIndex,
    to: { columns: Int32Array; columnsUsed: number },
  ): number {
    this.#columns = columns;
    this.#pairs = to.columns;
    this.#pairsAt = to.columnsUsed;
    return this.#fields(pos + 1, depth + 1);
  }

  #fields(pos: number, depth: number): number {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const bytes = this.bytes;
    const columns = this.#columns!;
    const pairs = this.#pairs;
    const pairsAt = this.#pairsAt;
    let at = this.peek(pos);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      const key = bytes[at] === QUOTE ? at + 1 : this.expect(at, QUOTE);
      at = this.string(key);
      const column = columns.find(bytes, key, at - 1 - key);
      at = bytes[at] === COLON ? at + 1 : this.expect(at, COLON);
      if (bytes[at]! <= 0x20) at = this.peek(at);
      const value = at;
      at = this.value(value, depth);
      if (column >= 0) {
        pairs[pairsAt + 2 * column] = value;
        pairs[pairsAt + 2 * column + 1] = at - value;
      }
      const c = bytes[at]! > 0x20 ? bytes[at]! : bytes[(at = this.peek(at))]!;
      if (c === CLOSE_BRACE) return at + 1;
      if (c !== COMMA) throw this.unexpected(at, "',' or '}'");
      at++;
    }
  }

  #object(pos: number, depth: number): number {
    const bytes = this.bytes;
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    let at = this.peek(pos);
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    for (;;) {
      at = this.string(bytes[at] === QUOTE ? at + 1 : this.expect(at, QUOTE));
      at = bytes[at] === COLON ? at + 1 : this.expect(at, COLON);
      if (bytes[at]! <= 0x20) at = this.peek(at);
      at = this.value(at, depth);
      const c = bytes[at]! > 0x20 ? bytes[at]! : bytes[(at = this.peek(at))]!;
      if (c === CLOSE_BRACE) return at + 1;
      if (c !== COMMA) throw this.unexpected(at, "',' or '}'");
      at++;
    }
  }

  #array(pos: number, depth: number): number {
    const bytes = this.bytes;
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    let at = this.peek(pos);
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    for (;;) {
      if (bytes[at]! <= 0x20) at = this.peek(at);
      at = this.value(at, depth);
      const c = bytes[at]! > 0x20 ? bytes[at]! : bytes[(at = this.peek(at))]!;
      if (c === CLOSE_BRACKET) return at + 1;
      if (c !== COMMA) throw this.unexpected(at, "',' or ']'");
      at++;
    }
  }

  /** A string whose opening quote is before `pos`. */
  string(pos: number): number {
    const { bytes, view } = this;
    let at = pos;
    for (;;) {
      // Four bytes at once: is none of them a quote, a backslash or a control character?
      const word = view.getInt32(at, true);
      const q = word ^ 0x22222222;
      const b = word ^ 0x5c5c5c5c;
      const odd =
        (((q - 0x01010101) & ~q) |
          ((b - 0x01010101) & ~b) |
          ((word - 0x20202020) & ~word)) &
        0x80808080;
      if (odd === 0) {
        at += 4;
        continue;
      }
      // The lowest bit that is set marks the first such byte.
      at += (31 - Math.clz32(odd & -odd)) >> 3;
      const c = bytes[at]!;
      if (c === QUOTE) return at + 1;
      if (c !== BACKSLASH) throw this.unexpected(at, "a character of a string");
      at = this.#escape(at + 1);
    }
  }

  /** The escape whose backslash is before `pos`. */
  #escape(pos: number): number {
    this.escapes++;
    const c = this.bytes[pos]!;
    if (c !== 0x75) {
      if (ESCAPES[c] === 0) throw this.unexpected(pos, "an escape");
      return pos + 1;
    }
    for (let at = pos + 1; at < pos + 5; at++)
      if (HEX[this.bytes[at]!] === 0)
        throw this.unexpected(at, "a hexadecimal digit");
    return pos + 5;
  }

  /** The number that starts at `start`, its digits at `pos`. */
  #number(start: number, pos: number): number {
    const bytes = this.bytes;
    let at = this.#digits(pos);
    if (bytes[pos] === ZERO && at > pos + 1)
      throw this.unexpected(pos + 1, "no digit after a leading zero");
    const digits = at - pos;
    let whole = true;
    if (bytes[at] === DOT) {
      at = this.#digits(at + 1);
      whole = false;
    }
    if ((bytes[at]! | 0x20) === 0x65) {
      const sign = bytes[at + 1];
      at = this.#digits(sign === 0x2b || sign === MINUS ? at + 2 : at + 1);
      whole = false;
    }
    if (at >= this.end) throw this.missing();
    if (at - start > LONGEST_NUMBER)
      throw badAnswer(`a number of ${at - start} characters`);
    if (digits > 15 && whole) this.#longInteger(start, at);
    return at;
  }

  #digits(pos: number): number {
    const bytes = this.bytes;
    let at = pos;
    while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
    if (at === pos) throw this.unexpected(at, "a digit");
    return at;
  }

  #longInteger(start: number, end: number): void {
    const text = this.text(start, end);
    if (!Number.isSafeInteger(Number(text))) this.lenient = true;
  }

  #word(pos: number): number {
    const { bytes } = this;
    for (const word of WORDS) {
      if (bytes[pos] !== word.bytes[0]) continue;
      let i = 0;
      while (i < word.bytes.length && bytes[pos + i] === word.bytes[i]) i++;
      if (i === word.bytes.length) {
        if (word.lenient) this.lenient = true;
        return pos + i;
      }
      throw this.unexpected(pos + i, "true, false, null or a number");
    }
    throw this.unexpected(pos, "a value");
  }

  /** What to throw at `pos`, where `wanted` should stand. */
  unexpected(pos: number, wanted: string): Error {
    if (pos >= this.end) return this.missing();
    return badAnswer(`${shown(this.bytes[pos])} where ${wanted} should be`);
  }

  /** What to throw at the end of the bytes. */
  missing(): Error {
    return this.final ? badAnswer("it is cut off") : NEED_MORE;
  }
}

const ESCAPES = tableOf('"\\/bfnrt');
const HEX = tableOf("0123456789abcdefABCDEF");

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}
