import { MemberCursor, OPEN_BRACE } from "./member-cursor.js";

const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
const NULL = Buffer.from("null");
const MEMBER_NULL = Buffer.from(":null");

/**
 * Makes JSON Merge Patches (RFC 7386) from the canonical JSON of an object
 * before and after, without parsing either: keys stand in the same order in
 * both, so that they are merged like two sorted lists, and what is equal before
 * the first difference and behind the last one is not looked at in detail.
 */
export class PatchWriter {
  #out = Buffer.alloc(4096);
  #length = 0;

  /** @returns undefined where a patch cannot say it (RFC 7386 cannot set null) or would not be shorter than the object */
  write(before: Uint8Array, after: Uint8Array): Buffer | undefined {
    this.#length = 0;
    const equal = equalEnds(before, after);
    const old = new MemberCursor(before, 0);
    const now = new MemberCursor(after, 0);
    while (now.hasMember && now.valueEnd < equal.start) {
      now.next();
      old.next();
    }
    if (!this.#object(old, now, equal.end)) return undefined;
    if (this.#length >= after.length) return undefined;
    const patch = Buffer.allocUnsafeSlow(this.#length);
    this.#out.copy(patch, 0, 0, this.#length);
    return patch;
  }

  /** @param equalEnd bytes at the end of both that are equal; 0: not known */
  #object(old: MemberCursor, now: MemberCursor, equalEnd: number): boolean {
    this.#byte(OPEN_BRACE);
    while (old.hasMember || now.hasMember) {
      if (equalEnd > 0 && isBehind(old, now, equalEnd)) break;
      const order = compareKeys(old, now);
      if (order < 0) this.#remove(old);
      else if (order > 0) {
        if (!this.#put(now)) return false;
      } else if (!this.#change(old, now)) return false;
      if (order <= 0) old.next();
      if (order >= 0) now.next();
    }
    this.#byte(CLOSE_BRACE);
    return true;
  }

  #remove(old: MemberCursor): void {
    this.#key(old);
    this.#bytes(NULL, 0, NULL.length);
  }

  #change(old: MemberCursor, now: MemberCursor): boolean {
    if (isSameValue(old, now)) return true;
    if (!old.isObject || !now.isObject) return this.#put(now);
    this.#key(now);
    return this.#object(
      new MemberCursor(old.bytes, old.valueStart),
      new MemberCursor(now.bytes, now.valueStart),
      0,
    );
  }

  #put(now: MemberCursor): boolean {
    const { bytes, valueStart, valueEnd } = now;
    if (bytes[valueStart] === LETTER_N) return false;
    if (now.isObject && mayHoldNull(now)) return false;
    this.#key(now);
    this.#bytes(bytes, valueStart, valueEnd);
    return true;
  }

  #key({ bytes, keyStart, keyEnd }: MemberCursor): void {
    if (this.#out[this.#length - 1] !== OPEN_BRACE) this.#byte(COMMA);
    this.#bytes(bytes, keyStart, keyEnd);
    this.#byte(COLON);
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#out[this.#length++] = byte;
  }

  #bytes(bytes: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    // Mostly a few bytes: a call for each copy would cost more.
    for (let i = start; i < end; i++) this.#out[this.#length++] = bytes[i]!;
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#out.length) return;
    const grown = Buffer.alloc(2 * (this.#length + length));
    this.#out.copy(grown, 0, 0, this.#length);
    this.#out = grown;
  }
}

/** How many bytes at the start and at the end are equal, none counted twice. */
function equalEnds(before: Uint8Array, after: Uint8Array) {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  const most = shorter - start;
  let i = before.length - 1;
  let j = after.length - 1;
  while (end < most && before[i--] === after[j--]) end++;
  return { start, end };
}

/** Do both stand at the same place of the equal end? */
function isBehind(
  old: MemberCursor,
  now: MemberCursor,
  equalEnd: number,
): boolean {
  if (!old.hasMember || !now.hasMember) return false;
  const left = now.bytes.length - now.keyStart;
  return left <= equalEnd && left === old.bytes.length - old.keyStart;
}

/** Below 0: the old member has no equal in the new object. Above 0: the other way round. */
function compareKeys(old: MemberCursor, now: MemberCursor): number {
  if (!old.hasMember) return 1;
  if (!now.hasMember) return -1;
  // A key's closing quote is in: none is the beginning of another.
  let isPlain = true;
  for (let i = 0; ; i++) {
    const a = old.bytes[old.keyStart + i]!;
    const b = now.bytes[now.keyStart + i]!;
    isPlain &&= isPlainByte(a) && isPlainByte(b);
    if (a !== b) {
      if (isPlain) return order(a, b);
      return old.key() < now.key() ? -1 : 1;
    }
    if (old.keyStart + i === old.keyEnd - 1) return 0;
  }
}

/** Are keys ordered by this byte as they are by their text's code units? */
function isPlainByte(byte: number): boolean {
  return byte < 0x80 && byte !== BACKSLASH;
}

/** A quote ends a key: it comes before every other byte, blanks and exclamation marks included. */
function order(a: number, b: number): number {
  if (a === QUOTE) return -1;
  return b === QUOTE ? 1 : a - b;
}

function isSameValue(old: MemberCursor, now: MemberCursor): boolean {
  const length = now.valueEnd - now.valueStart;
  if (old.valueEnd - old.valueStart !== length) return false;
  for (let i = 0; i < length; i++)
    if (old.bytes[old.valueStart + i] !== now.bytes[now.valueStart + i])
      return false;
  return true;
}

/** A member `null` would be lost on the way; that a text looks like one costs the patch, no more. */
function mayHoldNull({ bytes, valueStart, valueEnd }: MemberCursor): boolean {
  const at = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + valueStart,
    valueEnd - valueStart,
  ).indexOf(MEMBER_NULL);
  return at >= 0;
}
