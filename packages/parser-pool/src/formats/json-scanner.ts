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
 * Every method takes a position and returns the position behind what it read.
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

  /** What was read since it was last set to false is not strict JSON. */
  get lenient(): boolean {
    return this.#walk.lenient;
  }

  set lenient(lenient: boolean) {
    this.#walk.lenient = lenient;
  }

  /** Number of escapes read: tells whether a string is its own text. */
  get escapes(): number {
    return this.#walk.escapes;
  }

  /** The bytes as text; what is not UTF-8 becomes U+FFFD. */
  text(start: number, end: number): string {
    return this.#text.toString("utf8", start, end);
  }

  space(pos: number): number {
    return skipSpace(this.bytes, pos);
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
    if (this.bytes[at] !== byte) throw this.unexpected(at, describeByte(byte));
    return at + 1;
  }

  /** White space and a key with its colon; the key's text is `[keyStart..keyEnd)`. */
  keyStart = 0;
  keyEnd = 0;
  key(pos: number): number {
    const start = this.expect(pos, QUOTE);
    const end = this.#checked(this.#walk.string(start));
    this.keyStart = start;
    this.keyEnd = end - 1;
    return this.peek(this.expect(end, COLON));
  }

  /** The value at `pos`, which stands within `depth` levels. */
  value(pos: number, depth: number): number {
    return this.#checked(this.#walk.value(pos, depth, undefined, NO_PAIRS));
  }

  /** A record whose brace is at `pos`; where its columns lie is written to `to`. */
  record(
    pos: number,
    depth: number,
    columns: NameIndex,
    to: { columns: Int32Array; columnsUsed: number },
  ): number {
    const pairs = { pairs: to.columns, pairsAt: to.columnsUsed };
    return this.#checked(this.#walk.value(pos, depth, columns, pairs));
  }

  /** What to throw at `pos`, where `wanted` should stand. */
  unexpected(pos: number, wanted: string): Error {
    if (pos >= this.end) return this.missing();
    return badAnswer(
      `${describeByte(this.bytes[pos])} where ${wanted} should be`,
    );
  }

  /** What to throw at the end of the bytes. */
  missing(): Error {
    return this.final ? badAnswer("it is cut off") : NEED_MORE;
  }

  #checked(at: number): number {
    // A number that touches the end may go on.
    if (at >= this.end) throw this.missing();
    if (at !== FAILED) return at;
    const { failedAt, expected: wanted } = this.#walk;
    if (wanted === "" && failedAt < this.end) throw tooDeep(this.#maxDepth);
    throw this.unexpected(failedAt, wanted);
  }
}
