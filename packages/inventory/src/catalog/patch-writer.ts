import { findMembers, type MemberOffsets } from "./member-offsets.js";
import { MemberCursor, OPEN_BRACE } from "./member-cursor.js";

const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
/** Bytes compared by one call of Buffer.compare. */
const CHUNK = 256;
const NULL = Buffer.from("null");
const MEMBER_NULL = Buffer.from(":null");

/**
 * Creates JSON Merge Patches (RFC 7386) from the canonical JSON of an object
 * before and after, without parsing: keys have the same order in both, so that
 * they are merged like two sorted lists. Equal bytes before the first and
 * behind the last difference are skipped. Changes here must pass
 * test/catalog-property.test.ts.
 */
export class PatchWriter {
  #out = Buffer.alloc(4096);
  #length = 0;
  /** Index of the last member that `#skip` reached. */
  #member = 0;

  /**
   * @param members of `bytes`, if they are known
   * @returns undefined when no patch can express the change (RFC 7386 cannot
   *   set null) or the patch would not be shorter than the object
   */
  write(
    before: Buffer,
    bytes: Buffer,
    members = findMembers(bytes),
  ): Buffer | undefined {
    this.#length = 0;
    this.#member = 0;
    const start = equalRun(before, 0, bytes, 0);
    const end = equalEnd(before, bytes, start);
    const old = new MemberCursor(before, 0);
    const now = new MemberCursor(bytes, 0);
    this.#byte(OPEN_BRACE);
    this.#skip(old, now, members, start);
    while ((old.hasMember || now.hasMember) && !isBehind(old, now, end)) {
      if (!this.#step(old, now)) return undefined;
      if (!old.hasMember || !now.hasMember) continue;
      const run = equalRun(before, old.keyStart, bytes, now.keyStart);
      this.#skip(old, now, members, now.keyStart + run);
    }
    this.#byte(CLOSE_BRACE);
    if (this.#length >= bytes.length) return undefined;
    // Allocated from Node's shared pool: patches are short and are released in
    // the order of their creation.
    return Buffer.from(this.#out.subarray(0, this.#length));
  }

  /**
   * Skips members that are equal in both objects. @param end both objects are
   * equal up to this offset in `now`
   */
  #skip(
    old: MemberCursor,
    now: MemberCursor,
    { offsets, count }: MemberOffsets,
    end: number,
  ): void {
    if (!old.hasMember || !now.hasMember) return;
    const ahead = old.keyStart - now.keyStart;
    const { keyStart } = now;
    let member = this.#member;
    while (member < count && offsets[member]! < keyStart) member++;
    // A member is equal only if the comma behind it is equal, too.
    while (member + 1 < count && offsets[member + 1]! <= end) member++;
    this.#member = member;
    const at = offsets[member]!;
    if (at === keyStart) return;
    now.moveTo(at);
    old.moveTo(at + ahead);
  }

  #object(old: MemberCursor, now: MemberCursor): boolean {
    this.#byte(OPEN_BRACE);
    while (old.hasMember || now.hasMember)
      if (!this.#step(old, now)) return false;
    this.#byte(CLOSE_BRACE);
    return true;
  }

  /**
   * Processes the next member of one or both objects. @returns false when no
   * patch can express it
   */
  #step(old: MemberCursor, now: MemberCursor): boolean {
    const order = compareKeys(old, now);
    if (order < 0) this.#remove(old);
    else if (order > 0) {
      if (!this.#put(now)) return false;
    } else if (!this.#change(old, now)) return false;
    if (order <= 0) old.next();
    if (order >= 0) now.next();
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
    const out = this.#out;
    let length = this.#length;
    // Usually few bytes: calling Buffer.copy for each would cost more.
    for (let i = start; i < end; i++) out[length++] = bytes[i]!;
    this.#length = length;
  }

  #reserve(length: number): void {
    if (this.#length + length <= this.#out.length) return;
    const grown = Buffer.alloc(2 * (this.#length + length));
    this.#out.copy(grown, 0, 0, this.#length);
    this.#out = grown;
  }
}

/** Number of equal bytes from these offsets on. */
function equalRun(a: Buffer, from: number, b: Buffer, at: number): number {
  const limit = Math.min(a.length - from, b.length - at);
  let run = 0;
  while (run + CHUNK <= limit && isEqual(a, from + run, b, at + run))
    run += CHUNK;
  while (run < limit && a[from + run] === b[at + run]) run++;
  return run;
}

/** Number of equal bytes at the end, not counting the first `start` bytes. */
function equalEnd(before: Buffer, after: Buffer, start: number): number {
  const limit = Math.min(before.length, after.length) - start;
  const [i, j] = [before.length, after.length];
  let end = CHUNK;
  while (end <= limit && isEqual(before, i - end, after, j - end)) end += CHUNK;
  end -= CHUNK;
  while (end < limit && before[i - end - 1] === after[j - end - 1]) end++;
  return end;
}

/** Buffer.compare is 20 times as fast as a loop. */
function isEqual(a: Buffer, from: number, b: Buffer, at: number): boolean {
  return a.compare(b, at, at + CHUNK, from, from + CHUNK) === 0;
}

/** Whether both cursors are at the same position in the equal end. */
function isBehind(
  old: MemberCursor,
  now: MemberCursor,
  equalEnd: number,
): boolean {
  if (!old.hasMember || !now.hasMember) return false;
  const left = now.bytes.length - now.keyStart;
  return left <= equalEnd && left === old.bytes.length - old.keyStart;
}

/**
 * Negative: the old member does not exist in the new object; positive: the new
 * member did not exist before; 0: same key.
 */
function compareKeys(old: MemberCursor, now: MemberCursor): number {
  if (!old.hasMember) return 1;
  if (!now.hasMember) return -1;
  // The closing quote is compared, too: no key is a prefix of another.
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

/** Whether this byte sorts like the code unit of the key's text. */
function isPlainByte(byte: number): boolean {
  return byte < 0x80 && byte !== BACKSLASH;
}

/**
 * A quote ends a key: it sorts before every other byte, including space and
 * exclamation mark.
 */
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

/**
 * Whether the value may contain a null member, which a patch would delete. A
 * string that looks like one only costs the patch.
 */
function mayHoldNull({ bytes, valueStart, valueEnd }: MemberCursor): boolean {
  const at = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + valueStart,
    valueEnd - valueStart,
  ).indexOf(MEMBER_NULL);
  return at >= 0;
}

const writer = new PatchWriter();

/**
 * Writes an RFC 7386 patch between two objects in canonical JSON, as UTF-8
 * bytes. Undefined when no patch can express the change (RFC 7386 cannot set
 * null) or it would not be shorter.
 */
export function writeMergePatch(
  before: Buffer,
  after: Buffer,
): Buffer | undefined {
  return writer.write(before, after);
}
