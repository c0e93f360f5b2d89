const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Iterates over the members of an object in canonical JSON. Positions are byte
 * offsets; nothing is parsed or copied.
 */
export class MemberCursor {
  readonly bytes: Uint8Array;
  /** The key, including its quotes. */
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** False behind the last member. */
  hasMember = false;

  /**
   * @param at offset of the object's opening brace; the cursor starts at its
   *   first member
   */
  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.moveTo(at + 1);
  }

  get isObject(): boolean {
    return this.bytes[this.valueStart] === OPEN_BRACE;
  }

  /** Moves to the member whose key begins at this offset, if one does. */
  moveTo(at: number): void {
    const { bytes } = this;
    this.keyStart = at;
    this.hasMember = bytes[at] === QUOTE;
    if (!this.hasMember) return;
    const keyEnd = endOfString(bytes, at);
    this.keyEnd = keyEnd;
    this.valueStart = keyEnd + 1;
    this.valueEnd = endOfValue(bytes, keyEnd + 1);
  }

  next(): void {
    // A value is followed by a comma or the end of the object.
    if (this.bytes[this.valueEnd] === COMMA) this.moveTo(this.valueEnd + 1);
    else this.hasMember = false;
  }

  /** The key as a string. */
  key(): string {
    const { bytes, keyStart, keyEnd } = this;
    const text = Buffer.from(bytes.subarray(keyStart, keyEnd)).toString();
    return JSON.parse(text) as string;
  }
}

/** Offset behind the value that begins at `at`. */
function endOfValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first === QUOTE) return endOfString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET)
    return endOfNested(bytes, at);
  let end = at;
  while (end < bytes.length && !isDelimiter(bytes[end]!)) end++;
  return end;
}

function isDelimiter(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

function endOfNested(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let depth = 0;
  let end = at;
  while (end < length) {
    const byte = bytes[end]!;
    if (byte === QUOTE) {
      end = endOfString(bytes, end);
      continue;
    }
    end++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET)
      if (--depth === 0) break;
  }
  return end;
}

function endOfString(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let end = at + 1;
  while (end < length) {
    const byte = bytes[end]!;
    if (byte === QUOTE) break;
    end += byte === BACKSLASH ? 2 : 1;
  }
  return end + 1;
}
