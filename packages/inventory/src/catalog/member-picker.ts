import { MemberCursor } from "./member-cursor.js";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NO_BOUND = 0xff;
const LAST_ASCII = 0x7f;

/** Scratch buffer for the result; it is read before the next call. */
let scratch = Buffer.allocUnsafeSlow(4096);

/**
 * Extracts some members of objects in canonical JSON, without parsing the
 * others.
 */
export class MemberPicker {
  /** Keys as JSON strings with quotes, by length. */
  readonly #keys: Buffer[][] = [];
  readonly #count: number;
  /** No key begins with a greater byte: iteration can end behind it. */
  readonly #maxFirstByte: number;

  constructor(fields: readonly string[]) {
    const distinct = new Set(fields);
    this.#count = distinct.size;
    let last = 0;
    for (const field of distinct) {
      const key = Buffer.from(JSON.stringify(field));
      (this.#keys[key.length] ??= []).push(key);
      // The position of an escaped key cannot be derived from its first byte.
      last = Math.max(last, key[1] === BACKSLASH ? NO_BOUND : key[1]!);
    }
    this.#maxFirstByte = last;
  }

  /** @returns canonical JSON of the object with those of the members that exist */
  pick(json: Buffer): Buffer {
    // Reads `scratch` afterwards: the call may replace it.
    const length = this.#copyMembers(json);
    return Buffer.from(scratch.subarray(0, length));
  }

  /** Like `pick`, as a string. */
  pickText(json: Buffer): string {
    const length = this.#copyMembers(json);
    return scratch.toString("utf8", 0, length);
  }

  /** @returns the length of the object in `scratch` */
  #copyMembers(json: Buffer): number {
    if (scratch.length < json.length)
      scratch = Buffer.allocUnsafeSlow(2 * json.length);
    scratch[0] = OPEN_BRACE;
    let length = 1;
    let found = 0;
    const cursor = new MemberCursor(json, 0);
    while (
      cursor.hasMember &&
      found < this.#count &&
      !this.#isBeyondLast(cursor)
    ) {
      if (this.#isPicked(cursor)) {
        if (found++ > 0) scratch[length++] = COMMA;
        for (let at = cursor.keyStart; at < cursor.valueEnd; at++)
          scratch[length++] = json[at]!;
      }
      cursor.next();
    }
    scratch[length++] = CLOSE_BRACE;
    return length;
  }

  /**
   * Members are sorted by the code units of their keys. The first bytes have
   * the same order up to the end of ASCII, except for escaped keys and the
   * empty key.
   */
  #isBeyondLast({ bytes, keyStart }: MemberCursor): boolean {
    const first = bytes[keyStart + 1]!;
    if (this.#maxFirstByte > LAST_ASCII || first <= this.#maxFirstByte)
      return false;
    return first !== BACKSLASH && first !== QUOTE;
  }

  #isPicked({ bytes, keyStart, keyEnd }: MemberCursor): boolean {
    const keys = this.#keys[keyEnd - keyStart];
    if (keys === undefined) return false;
    for (const key of keys) if (equalsAt(key, bytes, keyStart)) return true;
    return false;
  }
}

function equalsAt(key: Buffer, bytes: Uint8Array, at: number): boolean {
  for (let i = 1; i < key.length; i++)
    if (key[i] !== bytes[at + i]) return false;
  return true;
}
