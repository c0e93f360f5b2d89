import { badAnswer, shown, tooDeep } from "./bad-input.js";
import { readDecimal } from "./xport-number.js";
import { XportBuilder, type XportTable } from "./xport-table.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** Deeper than anything that is meant. */
const MOST_LEVELS = 16;

/**
 * Reads `{meta: {...}, data: [{t, values: [...]}]}` straight from the bytes.
 * Hosts of today put every number into quotes; older ones wrote numbers as they
 * are, `NaN` among them, and keys without quotes. All of it is taken.
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP
 */
export function readXportJson(
  bytes: Uint8Array,
  start: number,
  end: number,
): XportTable {
  const reader = new JsonReader(bytes, start, end);
  const builder = new XportBuilder();
  reader.members((key) => {
    if (key === "meta") readMeta(reader, builder);
    else if (key === "data") reader.items(() => readRow(reader, builder));
    else reader.skip();
  });
  return builder.table();
}

function readMeta(reader: JsonReader, builder: XportBuilder): void {
  reader.members((key) => {
    if (key === "step") builder.step = reader.number();
    else if (key === "end") builder.end = reader.number();
    else if (key === "legend")
      reader.items(() => {
        builder.name(reader.text());
      });
    else reader.skip();
  });
}

function readRow(reader: JsonReader, builder: XportBuilder): void {
  let time = NaN;
  reader.members((key) => {
    if (key === "t") time = reader.number();
    else if (key === "values")
      reader.items(() => {
        builder.value(reader.number());
      });
    else reader.skip();
  });
  builder.row(time);
}

/** JSON as loose as these answers are. */
class JsonReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  /** Calls back at the value of each member. */
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

  /** Calls back at each item. */
  items(onItem: () => void): void {
    this.#take(OPEN_LIST);
    if (this.#has(CLOSE_LIST)) return;
    do onItem();
    while (this.#has(COMMA));
    this.#take(CLOSE_LIST);
  }

  text(): string {
    const [from, to] = this.#scalar();
    const text = Buffer.from(
      this.#bytes.buffer,
      this.#bytes.byteOffset + from,
      to - from,
    ).toString();
    return text.includes("\\") ? unescape(text) : text;
  }

  number(): number {
    const [from, to] = this.#scalar();
    return readDecimal(this.#bytes, from, to);
  }

  skip(levels = MOST_LEVELS): void {
    if (levels === 0) throw tooDeep(MOST_LEVELS);
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

  /** Between quotes, or up to what cannot be part of a bare word. */
  #scalar(): readonly [from: number, to: number] {
    const bytes = this.#bytes;
    if (this.#has(QUOTE)) {
      const from = this.#at;
      let at = from;
      while (at < this.#end && bytes[at] !== QUOTE)
        at += bytes[at] === BACKSLASH ? 2 : 1;
      if (at >= this.#end) throw badAnswer("it breaks off");
      this.#at = at + 1;
      return [from, at];
    }
    this.#peek();
    const from = this.#at;
    let at = from;
    while (at < this.#end && !isMark(bytes[at]!)) at++;
    if (at === from) throw badAnswer(`${shown(bytes[at])} is no value`);
    this.#at = at;
    return [from, at];
  }

  #take(mark: number): void {
    if (this.#has(mark)) return;
    const found = this.#at < this.#end ? this.#bytes[this.#at] : undefined;
    throw badAnswer(`${shown(found)} where ${shown(mark)} should be`);
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
    return text;
  }
}
