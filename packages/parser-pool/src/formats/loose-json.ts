import { badAnswer, describeByte, tooDeep } from "./bad-input.js";
import { readDecimal } from "./xport-number.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** Deeper than any valid document. */
const MAX_DEPTH = 16;

/**
 * Parser for the JSON dialect of round-robin databases: current hosts quote
 * every number; older ones write bare numbers, including `NaN`, and keys without
 * quotes.
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP
 */
export class LooseJson {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  /** The last scalar: `bytes[from..to)`, without quotes. */
  #from = 0;
  #to = 0;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Calls `onMember` at the value of each member. */
  members(onMember: (key: string) => void): void {
    this.#take(OPEN_MAP);
    if (this.#has(CLOSE_MAP)) return;
    do {
      const key = this.text();
      this.#take(COLON);
      onMember(key);
    } while (this.#has(COMMA));
    this.#take(CLOSE_MAP);
  }

  /** Calls `onItem` at each item. */
  items(onItem: () => void): void {
    this.#take(OPEN_LIST);
    if (this.#has(CLOSE_LIST)) return;
    do onItem();
    while (this.#has(COMMA));
    this.#take(CLOSE_LIST);
  }

  text(): string {
    const text = this.bytes().toString();
    return text.includes("\\") ? unescape(text) : text;
  }

  /** The bytes of a string, not copied; escapes are not decoded. */
  bytes(): Buffer {
    this.#scalar();
    const { buffer, byteOffset } = this.#bytes;
    return Buffer.from(buffer, byteOffset + this.#from, this.#to - this.#from);
  }

  number(): number {
    this.#scalar();
    return readDecimal(this.#bytes, this.#from, this.#to);
  }

  skip(levels = MAX_DEPTH): void {
    if (levels === 0) throw tooDeep(MAX_DEPTH);
    const first = this.#peek();
    if (first === OPEN_MAP)
      this.members(() => {
        this.skip(levels - 1);
      });
    else if (first === OPEN_LIST)
      this.items(() => {
        this.skip(levels - 1);
      });
    else this.#scalar();
  }

  /** A quoted string, or a bare word up to a delimiter. */
  #scalar(): void {
    const bytes = this.#bytes;
    const isQuoted = this.#has(QUOTE);
    if (!isQuoted) this.#peek();
    const from = this.#at;
    let at = from;
    if (isQuoted) {
      while (at < this.#end && bytes[at] !== QUOTE)
        at += bytes[at] === BACKSLASH ? 2 : 1;
      if (at >= this.#end) throw badAnswer("unexpected end");
    } else {
      while (at < this.#end && !isMark(bytes[at]!)) at++;
      if (at === from)
        throw badAnswer(`${describeByte(bytes[at])} is not a value`);
    }
    this.#from = from;
    this.#to = at;
    this.#at = isQuoted ? at + 1 : at;
  }

  #take(mark: number): void {
    if (this.#has(mark)) return;
    const found = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    throw badAnswer(`${describeByte(found)} instead of ${describeByte(mark)}`);
  }

  #has(mark: number): boolean {
    if (this.#peek() !== mark) return false;
    this.#at++;
    return true;
  }

  #peek(): number | undefined {
    while (this.#at < this.#end && this.#bytes[this.#at]! <= 0x20) this.#at++;
    return this.#at < this.#end ? this.#bytes[this.#at] : undefined;
  }
}

/** Ends a bare word: `,` `:` `]` `}` `[` `{` `"` and blanks. */
function isMark(byte: number): boolean {
  switch (byte) {
    case COMMA:
    case COLON:
    case OPEN_LIST:
    case CLOSE_LIST:
    case OPEN_MAP:
    case CLOSE_MAP:
    case QUOTE:
      return true;
    default:
      return byte <= 0x20;
  }
}

function unescape(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    // An invalid escape sequence: the text as it was sent.
    return text;
  }
}
