import type { ClassLayout, IntegerPosition } from "./class-registry.js";
import { badAnswer, tooDeep } from "./bad-input.js";
import type { BatchBuilder } from "./batch-builder.js";
import type { JsonOutput } from "./json-output.js";
import { isLenient, LITERALS, MAX_NUMBER_LENGTH } from "./xml-literal.js";
import type { XmlCursor } from "./xml-cursor.js";
import {
  ARRAY,
  DATA,
  ARRAY_END,
  DATA_END,
  MEMBER,
  MEMBER_END,
  NAME,
  STRUCT,
  STRUCT_END,
  VALUE,
  VALUE_END,
  XmlTag,
} from "./xml-tag.js";
import { copyName, copyText } from "./xml-text.js";

const LT = 0x3c;
const QUOTE = 0x22;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Scalar types by tag; the most frequent first. */
const TYPES = [
  "boolean",
  "dateTime.iso8601",
  "double",
  "string",
  "i4",
  "int",
  "i8",
  "base64",
].map((name) => ({
  open: new XmlTag(`<${name}>`),
  close: new XmlTag(`</${name}>`),
  /** Converts the text to JSON; undefined: the text becomes a string. */
  toJson: LITERALS.get(name),
}));

type Type = (typeof TYPES)[number];

const CONSTANTS = new Map([
  ["<struct/>", "{}"],
  ["<array/>", "[]"],
  ["<string/>", '""'],
  ["<nil/>", "null"],
]);

/**
 * Converts values of XML-RPC to JSON, bytes to bytes, without creating objects.
 * Every method takes a position and returns the position after what it read.
 */
export class XmlTranscoder {
  readonly #cursor: XmlCursor;
  readonly #output: JsonOutput;
  readonly #maxDepth: number;
  /** True: something written since the last reset is not strict JSON. */
  lenient = false;

  constructor(cursor: XmlCursor, output: JsonOutput, maxDepth: number) {
    this.#cursor = cursor;
    this.#output = output;
    this.#maxDepth = maxDepth;
  }

  /** Converts a `<value>`. @param position where it contains integers */
  value(
    pos: number,
    position: IntegerPosition | undefined,
    depth: number,
  ): number {
    const cursor = this.#cursor;
    const at = cursor.accept(pos, VALUE);
    if (at < 0) {
      if (cursor.tag(pos) !== "<value/>")
        throw cursor.unexpected(pos, VALUE.text);
      this.#output.ascii('""');
      return cursor.tagEnd;
    }
    if (cursor.bytes[at] !== LT) return this.#untagged(at, position, depth);
    const empty = cursor.quick(at, VALUE_END);
    if (empty >= 0) {
      this.#output.ascii('""');
      return empty;
    }
    return cursor.expect(this.#typed(at, position, depth), VALUE_END);
  }

  /** Converts the members of a record, after its `<struct>`: notes columns, converts integers to numbers. */
  record(
    pos: number,
    model: ClassLayout,
    depth: number,
    to: BatchBuilder,
  ): number {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const output = this.#output;
    const { columns: pairs, columnsUsed } = to;
    output.byte(OPEN_BRACE);
    let at = pos;
    for (;;) {
      const member = this.member(at);
      if (member < 0) break;
      if (at !== pos) output.byte(COMMA);
      const start = output.used + 1;
      at = this.name(member);
      const length = output.used - start - 1;
      output.byte(COLON);
      const { bytes } = output;
      const column = model.columns.find(bytes, start, length);
      const integer = model.integers.find(bytes, start, length);
      const from = output.used;
      at = this.value(at, model.integerPositions[integer], depth);
      if (column >= 0) {
        pairs[columnsUsed + 2 * column] = from;
        pairs[columnsUsed + 2 * column + 1] = output.used - from;
      }
      at = this.#cursor.expect(at, MEMBER_END);
    }
    output.byte(CLOSE_BRACE);
    return this.structEnd;
  }

  /** The start of the next member of a struct; -1 at the end, `structEnd` is then the position after it. */
  structEnd = 0;
  member(pos: number): number {
    const cursor = this.#cursor;
    const quick = cursor.quick(pos, MEMBER);
    if (quick >= 0) return quick;
    this.structEnd = cursor.accept(pos, STRUCT_END);
    return this.structEnd >= 0 ? -1 : cursor.expect(pos, MEMBER);
  }

  /** `<name>...</name>`, as a JSON string. */
  name(pos: number): number {
    const output = this.#output;
    const at = this.#cursor.expect(pos, NAME);
    output.byte(QUOTE);
    const end = copyName(this.#cursor, at, output);
    output.byte(QUOTE);
    return end;
  }

  /** Text up to the next tag, as a JSON string. */
  #string(pos: number): number {
    this.#output.byte(QUOTE);
    const at = copyText(this.#cursor, pos, this.#output);
    this.#output.byte(QUOTE);
    return at;
  }

  /** `<value>text</value>`, or white space before the tag of a type. */
  #untagged(
    pos: number,
    position: IntegerPosition | undefined,
    depth: number,
  ): number {
    const cursor = this.#cursor;
    const output = this.#output;
    const from = output.used;
    const end = this.#string(pos);
    const after = cursor.accept(end, VALUE_END);
    if (after >= 0) {
      if (position === "value") this.#asInteger(from);
      return after;
    }
    if (cursor.space(pos) !== end) throw cursor.unexpected(end, VALUE_END.text);
    output.used = from;
    return cursor.expect(this.#typed(end, position, depth), VALUE_END);
  }

  /** Converts the content of a `<value>`, from the tag of the type to its closing tag. */
  #typed(
    pos: number,
    position: IntegerPosition | undefined,
    depth: number,
  ): number {
    const cursor = this.#cursor;
    const output = this.#output;
    const array = cursor.quick(pos, ARRAY);
    if (array >= 0) return this.#array(array, position, depth + 1);
    const struct = cursor.quick(pos, STRUCT);
    if (struct >= 0) return this.#struct(struct, position, depth + 1);
    const type = this.#typeAt(pos);
    if (type !== undefined)
      return type.toJson === undefined
        ? cursor.expect(this.#string(this.#typeEnd), type.close)
        : this.#literal(this.#typeEnd, type, type.toJson);
    const tag = cursor.tag(pos);
    const at = cursor.tagEnd;
    if (tag === STRUCT.text) return this.#struct(at, position, depth + 1);
    if (tag === ARRAY.text) return this.#array(at, position, depth + 1);
    const constant = CONSTANTS.get(tag);
    if (constant === undefined) throw badAnswer(`the tag ${tag} in a value`);
    output.ascii(constant);
    return at;
  }

  /** The type whose tag is at `pos`; `typeEnd` is the position after the tag. */
  #typeEnd = 0;
  #typeAt(pos: number): Type | undefined {
    const cursor = this.#cursor;
    for (const type of TYPES) {
      this.#typeEnd = cursor.quick(pos, type.open);
      if (this.#typeEnd >= 0) return type;
    }
    const tag = cursor.tag(pos);
    this.#typeEnd = cursor.tagEnd;
    return TYPES.find(({ open }) => open.text === tag);
  }

  #struct(
    pos: number,
    position: IntegerPosition | undefined,
    depth: number,
  ): number {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const inner = position === "map" ? "value" : undefined;
    const output = this.#output;
    output.byte(OPEN_BRACE);
    let at = pos;
    for (;;) {
      const member = this.member(at);
      if (member < 0) break;
      if (at !== pos) output.byte(COMMA);
      const named = this.name(member);
      output.byte(COLON);
      at = this.#cursor.expect(this.value(named, inner, depth), MEMBER_END);
    }
    output.byte(CLOSE_BRACE);
    return this.structEnd;
  }

  #array(
    pos: number,
    position: IntegerPosition | undefined,
    depth: number,
  ): number {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth);
    const inner = position === "set" ? "value" : undefined;
    const cursor = this.#cursor;
    const output = this.#output;
    output.byte(OPEN_BRACKET);
    const data = cursor.accept(pos, DATA);
    let at = data;
    if (data < 0) {
      if (cursor.tag(pos) !== "<data/>")
        throw cursor.unexpected(pos, DATA.text);
      at = cursor.tagEnd;
    } else {
      for (;;) {
        const end = this.#dataEnd(at);
        if (end >= 0) {
          at = end;
          break;
        }
        if (at !== data) output.byte(COMMA);
        at = this.value(at, inner, depth);
      }
    }
    output.byte(CLOSE_BRACKET);
    return cursor.expect(at, ARRAY_END);
  }

  #dataEnd(pos: number): number {
    const cursor = this.#cursor;
    return cursor.quick(pos, VALUE) >= 0 ? -1 : cursor.accept(pos, DATA_END);
  }

  #literal(
    pos: number,
    { open, close }: Type,
    toJson: (text: string) => string | undefined,
  ): number {
    const cursor = this.#cursor;
    const { bytes } = cursor;
    let text = "";
    let end = pos;
    for (; bytes[end] !== LT; end++) {
      if (end >= cursor.end) throw cursor.missing();
      if (end - pos > MAX_NUMBER_LENGTH)
        throw badAnswer(
          `a number of more than ${MAX_NUMBER_LENGTH} characters`,
        );
      text += String.fromCharCode(bytes[end]!);
    }
    const json = toJson(text.trim());
    if (json === undefined)
      throw badAnswer(`'${text.slice(0, 40)}' in ${open.text}`);
    this.#output.ascii(json);
    if (isLenient(json)) this.lenient = true;
    return cursor.expect(end, close);
  }

  /** Converts the string written from `from` on to a number if it is an integer. */
  #asInteger(from: number): void {
    const output = this.#output;
    const { bytes } = output;
    const first = from + 1;
    const last = output.used - 1;
    const sign = bytes[first] === MINUS ? 1 : 0;
    const digits = last - first - sign;
    if (digits < 1 || digits > MAX_NUMBER_LENGTH) return;
    if (bytes[first + sign] === ZERO && digits > 1) return;
    for (let at = first + sign; at < last; at++)
      if (bytes[at]! < ZERO || bytes[at]! > NINE) return;
    // Removes the quotes.
    bytes.copyWithin(from, first, last);
    output.used = last - 1;
    if (digits > 15 && isLenient(output.text(from, output.used)))
      this.lenient = true;
  }
}
