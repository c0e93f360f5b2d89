import { badAnswer, NEED_MORE, describeByte, tooDeep } from "./bad-input.js";
import { FAILED, JsonWalk, skipSpace, type ColumnPairs } from "./json-walk.js";
import type { NameIndex } from "./name-index.js";

const QUOTE = 0x22;
const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

const NO_PAIRS: ColumnPairs = { pairs: new Int32Array(0), pairsAt: 0 };

/**
 * Reads the units of an answer: keys, values, records.
 *
 * Every method takes a position and returns the position after what it read.
 * At the end of the bytes it throws NEED_MORE, or BAD_ANSWER when no more follow.
 */
export class JsonScanner {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
  readonly end: number;
  readonly final: boolean;
  readonly #maxDepth: number;
  readonly #walk: JsonWalk;
  readonly #text: Buffer;

  /** `bytes[end]` is overwritten: a zero there ends every loop without a bounds check. */
  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    end: number,
    { final, maxDepth }: { final: boolean; maxDepth: number },
  ) {
    this.bytes = bytes;
    this.end = end;
    this.final = final;
    this.#maxDepth = maxDepth;
    this.#walk = new JsonWalk(bytes, maxDepth);
    this.#text = Buffer.from(bytes.buffer);
    this.view = this.#walk.view;
    bytes[end] = 0;
  }

  /** True: something read since the last reset is not strict JSON. */
  get lenient(): boolean {
    return this.#walk.lenient;
  }

  set lenient(lenient: boolean) {
    this.#walk.lenient = lenient;
  }

  /** Number of escapes read: unchanged if a string had no escape. */
  get escapes(): number {
    return this.#walk.escapes;
  }

  /** The bytes as a string; invalid UTF-8 becomes U+FFFD. */
  text(start: number, end: number): string {
    return this.#text.toString("utf8", start, end);
  }

  space(pos: number): number {
    return skipSpace(this.bytes, pos);
  }

  /** Skips white space; requires a following byte. */
  peek(pos: number): number {
    const at = this.space(pos);
    if (at >= this.end) throw this.missing();
    return at;
  }

  /** Skips white space, then `byte`. */
  expect(pos: number, byte: number): number {
    const at = this.peek(pos);
    if (this.bytes[at] !== byte) throw this.unexpected(at, describeByte(byte));
    return at + 1;
  }

  /** Skips white space and reads a key with its colon; the key is `[keyStart..keyEnd)`. */
  keyStart = 0;
  keyEnd = 0;
  key(pos: number): number {
    const start = this.expect(pos, QUOTE);
    const end = this.#checked(this.#walk.string(start));
    this.keyStart = start;
    this.keyEnd = end - 1;
    return this.peek(this.expect(end, COLON));
  }

  /** Skips the value at `pos`, nested in `depth` levels. */
  value(pos: number, depth: number): number {
    return this.#checked(this.#walk.value(pos, depth, undefined, NO_PAIRS));
  }

  /** Skips the record whose brace is at `pos`; the positions of its columns are written to `to`. */
  record(
    pos: number,
    depth: number,
    columns: NameIndex,
    to: { columns: Int32Array; columnsUsed: number },
  ): number {
    const pairs = { pairs: to.columns, pairsAt: to.columnsUsed };
    return this.#checked(this.#walk.value(pos, depth, columns, pairs));
  }

  /** The error to throw if the bytes at `pos` are not `expected`. */
  unexpected(pos: number, expected: string): Error {
    if (pos >= this.end) return this.missing();
    return badAnswer(`${describeByte(this.bytes[pos])} instead of ${expected}`);
  }

  /** The error to throw at the end of the bytes. */
  missing(): Error {
    return this.final ? badAnswer("unexpected end") : NEED_MORE;
  }

  #checked(at: number): number {
    // A number at the end of the bytes may continue in the next segment.
    if (at >= this.end) throw this.missing();
    if (at !== FAILED) return at;
    const { failedAt, expected: requested } = this.#walk;
    if (requested === "" && failedAt < this.end) throw tooDeep(this.#maxDepth);
    throw this.unexpected(failedAt, requested);
  }
}
