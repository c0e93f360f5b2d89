import { MemberCursor } from "./member-cursor.js";

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEVER = 0xff;
const LAST_ASCII = 0x7f;

/** Where an object is put together; used at once. */
let scratch = Buffer.allocUnsafeSlow(4096);

/** Cuts some members out of objects in canonical JSON, without reading the others. */
export class MemberPicker {
  /** Keys as they stand in JSON, quotes included, by their length. */
  readonly #keys: Buffer[][] = [];
  readonly #count: number;
  /** No key begins with a greater byte. */
  readonly #last: number;

  constructor(fields: readonly string[]) {
    const distinct = new Set(fields);
    this.#count = distinct.size;
    let last = 0;
    for (const field of distinct) {
      const key = Buffer.from(JSON.stringify(field));
      (this.#keys[key.length] ??= []).push(key);
      // What is escaped may stand anywhere.
      last = Math.max(last, key[1] === BACKSLASH ? NEVER : key[1]!);
    }
    this.#last = last;
  }

  /** @returns an object with those members that are there, as canonical as the one that is given */
  pick(json: Buffer): Buffer {
    // The scratch may be another one after it.
    const length = this.#gather(json);
    return Buffer.from(scratch.subarray(0, length));
  }

  /** The same as text. */
  pickText(json: Buffer): string {
    const length = this.#gather(json);
    return scratch.toString("utf8", 0, length);
  }

  /** @returns how many bytes of the scratch are the object */
  #gather(json: Buffer): number {
    if (scratch.length < json.length)
      scratch = Buffer.allocUnsafeSlow(2 * json.length);
    scratch[0] = OPEN_BRACE;
    let length = 1;
    let found = 0;
    const cursor = new MemberCursor(json, 0);
    while (cursor.hasMember && found < this.#count && !this.#isPast(cursor)) {
      if (this.#isWanted(cursor)) {
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
   * Members are in the order of their keys' code units. First bytes are in the same
   * order up to where ASCII ends, but for what is escaped and for the empty key.
   */
  #isPast({ bytes, keyStart }: MemberCursor): boolean {
    const first = bytes[keyStart + 1]!;
    if (this.#last > LAST_ASCII || first <= this.#last) return false;
    return first !== BACKSLASH && first !== QUOTE;
  }

  #isWanted({ bytes, keyStart, keyEnd }: MemberCursor): boolean {
    const keys = this.#keys[keyEnd - keyStart];
    if (keys === undefined) return false;
    for (const key of keys) if (standsAt(key, bytes, keyStart)) return true;
    return false;
  }
}

function standsAt(key: Buffer, bytes: Uint8Array, at: number): boolean {
  for (let i = 1; i < key.length; i++)
    if (key[i] !== bytes[at + i]) return false;
  return true;
}
