import type { NameIndex } from "./name-index.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Maximum length of a number (a double in full has 309 digits): parsing a BigInt of millions of digits would block. */
const MAX_NUMBER_LENGTH = 512;

/** Four characters as a little-endian number. */
const TRUE = 0x65757274;
const NULL = 0x6c6c756e;
const FALS = 0x736c6166;

const LENIENT_WORDS = ["NaN", "-NaN", "Infinity", "-Infinity"].map((text) =>
  Buffer.from(text),
);

/** Tokens that are expected at the position, as numbers, which are fast to compare in the loop. */
const KEY = 0;
const VALUE = 1;
const AFTER = 2;
const FIRST_KEY = 3;
const FIRST_VALUE = 4;

const EXPECTED = [
  "a key",
  "a value",
  "a comma or the end of its list",
  "a key or '}'",
  "a value or ']'",
] as const;

/** Returned instead of a position; see `failedAt` and `expected`. */
export const FAILED = -1;

/**
 * Validates JSON text without creating values: the whole grammar is checked,
 * strings are skipped four bytes at a time, and the positions of the columns of
 * a record are noted. Unquoted NaN and Infinity, and integers above 2^53, are
 * accepted and set `lenient`.
 *
 * One loop with a byte stack, without exceptions and recursion: V8 compiles it
 * once. A recursive version was recompiled about twenty times during the first
 * load, and took twice as long even after that.
 */
export class JsonWalk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  /** True: something read since the last reset is not strict JSON. */
  lenient = false;
  /** Number of escapes read: unchanged if a string had no escape. */
  escapes = 0;
  /** Position of the error or of the end of the text. */
  failedAt = 0;
  /** What was expected there; "" if the text is nested too deep. */
  expected = "";
  readonly #stack: Uint8Array;

  /** A zero byte after the text ends every loop without a bounds check; three more bytes must follow. */
  constructor(bytes: Uint8Array<ArrayBuffer>, maxDepth: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#stack = new Uint8Array(maxDepth + 1);
  }

  /**
   * Reads the value at `pos`, nested in `outer` levels. With `columns`, offset and
   * length of these members are written to `pairs` from `pairsAt` on.
   * @returns the position after the value, or FAILED
   */
  value(
    pos: number,
    outer: number,
    columns: NameIndex | undefined,
    { pairs, pairsAt }: ColumnPairs,
  ): number {
    const { bytes } = this;
    const stack = this.#stack;
    const deepest = stack.length - 1 - outer;
    let at = pos;
    let depth = 0;
    let inObject = 0;
    let mode = VALUE;
    let column = -1;
    let valueAt = pos;
    const keyed = columns === undefined ? 0 : 1;
    for (;;) {
      const c = bytes[at]!;
      if (mode === AFTER && c === COMMA) {
        at++;
        mode = inObject === 1 ? KEY : VALUE;
        continue;
      }
      if (c === QUOTE && mode !== AFTER) {
        const start = at + 1;
        at = this.string(start);
        if (at === FAILED) return FAILED;
        if (mode === KEY || mode === FIRST_KEY) {
          if (keyed === 1 && depth === 1)
            column = columns!.find(bytes, start, at - 1 - start);
          if (bytes[at] !== COLON) at = skipSpace(bytes, at);
          if (bytes[at] !== COLON) return this.#fail(at, "':'");
          at++;
          mode = VALUE;
          if (depth === 1) {
            if (bytes[at]! <= 0x20) at = skipSpace(bytes, at);
            valueAt = at;
          }
          continue;
        }
      } else if (c <= 0x20) {
        const next = skipSpace(bytes, at);
        if (next === at) return this.#fail(at, EXPECTED[mode]!);
        at = next;
        continue;
      } else if (
        mode >= AFTER &&
        c === (inObject === 1 ? CLOSE_BRACE : CLOSE_BRACKET)
      ) {
        at++;
        depth--;
        inObject = stack[depth]!;
      } else if (mode === AFTER || mode === KEY || mode === FIRST_KEY) {
        return this.#fail(at, EXPECTED[mode]);
      } else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        if (depth >= deepest) return this.#fail(at, "");
        stack[depth++] = inObject;
        inObject = c === OPEN_BRACE ? 1 : 0;
        mode = c === OPEN_BRACE ? FIRST_KEY : FIRST_VALUE;
        at++;
        continue;
      } else {
        at = this.#literal(at, c);
        if (at === FAILED) return FAILED;
      }
      if (depth === 0) return at;
      mode = AFTER;
      if (column >= 0 && depth === 1) {
        pairs[pairsAt + 2 * column] = valueAt;
        pairs[pairsAt + 2 * column + 1] = at - valueAt;
        column = -1;
      }
    }
  }

  /** Reads a string whose opening quote is before `pos`. @returns the position after the string, or FAILED */
  string(pos: number): number {
    const { bytes, view } = this;
    let at = pos;
    for (;;) {
      // Four bytes at a time: a quote, a backslash or a control character among them?
      const word = view.getInt32(at, true);
      const q = word ^ 0x22222222;
      const b = word ^ 0x5c5c5c5c;
      const specialBytes =
        (((q - 0x01010101) & ~q) |
          ((b - 0x01010101) & ~b) |
          ((word - 0x20202020) & ~word)) &
        0x80808080;
      if (specialBytes === 0) {
        at += 4;
        continue;
      }
      // The lowest bit set marks the first such byte.
      at += (31 - Math.clz32(specialBytes & -specialBytes)) >> 3;
      const c = bytes[at]!;
      if (c === QUOTE) return at + 1;
      if (c !== BACKSLASH) return this.#fail(at, "a character of a string");
      this.escapes++;
      at += 2;
      if (ESCAPES[bytes[at - 1]!] !== 0) continue;
      at = this.#longEscape(at - 1);
      if (at === FAILED) return FAILED;
    }
  }

  /** The escape `u` with four hex digits. */
  #longEscape(pos: number): number {
    if (this.bytes[pos] !== 0x75) return this.#fail(pos, "an escape");
    for (let at = pos + 1; at < pos + 5; at++)
      if (HEX[this.bytes[at]!] === 0)
        return this.#fail(at, "a hexadecimal digit");
    return pos + 5;
  }

  /** A number or a word that starts with `c`. */
  #literal(pos: number, c: number): number {
    if (c >= ZERO && c <= NINE) return this.#number(pos, pos);
    if (c === MINUS && this.bytes[pos + 1]! <= NINE)
      return this.#number(pos, pos + 1);
    const word = this.view.getInt32(pos, true);
    if (word === TRUE || word === NULL) return pos + 4;
    if (word === FALS && this.bytes[pos + 4] === 0x65) return pos + 5;
    return this.#word(pos);
  }

  /** The number that starts at `start`, its digits at `pos`. */
  #number(start: number, pos: number): number {
    const { bytes } = this;
    let at = skipDigits(bytes, pos);
    if (at === pos) return this.#fail(at, "a digit");
    if (bytes[pos] === ZERO && at > pos + 1)
      return this.#fail(pos + 1, "no digit after a leading zero");
    const digits = at - pos;
    let whole = true;
    if (bytes[at] === DOT) {
      const fraction = at + 1;
      at = skipDigits(bytes, fraction);
      if (at === fraction) return this.#fail(at, "a digit");
      whole = false;
    }
    if ((bytes[at]! | 0x20) === 0x65) {
      const sign = bytes[at + 1];
      const exponent = sign === 0x2b || sign === MINUS ? at + 2 : at + 1;
      at = skipDigits(bytes, exponent);
      if (at === exponent) return this.#fail(at, "a digit");
      whole = false;
    }
    if (at - start > MAX_NUMBER_LENGTH)
      return this.#fail(start, "a number of at most 512 characters");
    if (digits > 15 && whole) this.#longInteger(start, at);
    return at;
  }

  #longInteger(start: number, end: number): void {
    const text = Buffer.from(this.bytes.subarray(start, end)).toString();
    if (!Number.isSafeInteger(Number(text))) this.lenient = true;
  }

  /** A word that is not true, false or null, or is incomplete. */
  #word(pos: number): number {
    for (const word of LENIENT_WORDS) {
      const same = this.#common(pos, word);
      if (same === word.length) {
        this.lenient = true;
        return pos + same;
      }
      if (same > 1 || this.bytes[pos + same] === 0)
        return this.#fail(pos + same, "a value");
    }
    return this.#fail(pos + this.#commonOfWords(pos), "a value");
  }

  #commonOfWords(pos: number): number {
    return Math.max(...WORDS.map((word) => this.#common(pos, word)));
  }

  /** Number of bytes at `pos` that match the word. */
  #common(pos: number, word: Uint8Array): number {
    let same = 0;
    while (same < word.length && this.bytes[pos + same] === word[same]) same++;
    return same;
  }

  #fail(at: number, expected: string): number {
    this.failedAt = at;
    this.expected = expected;
    return FAILED;
  }
}

/** Where the positions of the columns of the current record are written. */
export interface ColumnPairs {
  readonly pairs: Int32Array;
  readonly pairsAt: number;
}

const WORDS = ["true", "false", "null"].map((text) => Buffer.from(text));
const ESCAPES = tableOf('"\\/bfnrt');
const HEX = tableOf("0123456789abcdefABCDEF");

/** The first position from `pos` on without white space. */
export function skipSpace(bytes: Uint8Array, pos: number): number {
  let at = pos;
  for (let c = bytes[at]!; c <= 0x20; c = bytes[++at]!)
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) break;
  return at;
}

function skipDigits(bytes: Uint8Array, pos: number): number {
  let at = pos;
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  return at;
}

function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}
