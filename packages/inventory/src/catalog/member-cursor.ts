const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The members of one object in canonical JSON, one after the other, as places in its bytes. */
export class MemberCursor {
  readonly bytes: Uint8Array;
  /** The key with its quotes. */
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** False behind the last one. */
  hasMember = false;

  /** @param at where the object's brace opens; the cursor is at its first member then */
  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.moveTo(at + 1);
  }

  get isObject(): boolean {
    return this.bytes[this.valueStart] === OPEN_BRACE;
  }

  /** To the member whose key begins here, if one does. */
  moveTo(at: number): void {
    const { bytes } = this;
    this.keyStart = at;
    this.hasMember = bytes[at] === QUOTE;
    if (!this.hasMember) return;
    const keyEnd = endOfText(bytes, at);
    this.keyEnd = keyEnd;
    this.valueStart = keyEnd + 1;
    this.valueEnd = endOfValue(bytes, keyEnd + 1);
  }

  next(): void {
    // Behind a value there is a comma or the end of the object.
    if (this.bytes[this.valueEnd] === COMMA) this.moveTo(this.valueEnd + 1);
    else this.hasMember = false;
  }

  /** The key as text. */
  key(): string {
    const { bytes, keyStart, keyEnd } = this;
    const text = Buffer.from(bytes.subarray(keyStart, keyEnd)).toString();
    return JSON.parse(text) as string;
  }
}

/** Where the value that begins at `at` ends. */
function endOfValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first === QUOTE) return endOfText(bytes, at);
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
      end = endOfText(bytes, end);
      continue;
    }
    end++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET)
      if (--depth === 0) break;
  }
  return end;
}

function endOfText(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let end = at + 1;
  while (end < length) {
    const byte = bytes[end]!;
    if (byte === QUOTE) break;
    end += byte === BACKSLASH ? 2 : 1;
  }
  return end + 1;
}
