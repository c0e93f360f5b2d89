import { membersOf, type MemberPlaces } from "./member-places.js";
import { MemberCursor, OPEN_BRACE } from "./member-cursor.js";

const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_BRACE = 0x7d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_N = 0x6e;
/** Bytes that are compared in one call. */
const CHUNK = 256;
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
  /** Where `skip` has come to. */
  #member = 0;

  /**
   * @param members of `bytes`, where they are known
   * @returns undefined where a patch cannot say it (RFC 7386 cannot set null)
   *   or would not be shorter than the object
   */
  write(
    before: Buffer,
    bytes: Buffer,
    members = membersOf(bytes),
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
    // From node's shared pool: patches are short, and go in the order in which they came.
    return Buffer.from(this.#out.subarray(0, this.#length));
  }

  /** Passes over members that are equal in both. @param end up to here in `now` the two are equal */
  #skip(
    old: MemberCursor,
    now: MemberCursor,
    { places, count }: MemberPlaces,
    end: number,
  ): void {
    if (!old.hasMember || !now.hasMember) return;
    const ahead = old.keyStart - now.keyStart;
    const { keyStart } = now;
    let member = this.#member;
    while (member < count && places[member]! < keyStart) member++;
    // A member is equal if the comma behind it is, too.
    while (member + 1 < count && places[member + 1]! <= end) member++;
    this.#member = member;
    const at = places[member]!;
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

  /** The next member of one or both. */
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
    // Mostly a few bytes: a call for each copy would cost more.
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

/** How many bytes are equal from these places on. */
function equalRun(a: Buffer, from: number, b: Buffer, at: number): number {
  const most = Math.min(a.length - from, b.length - at);
  let run = 0;
  while (run + CHUNK <= most && isEqual(a, from + run, b, at + run))
    run += CHUNK;
  while (run < most && a[from + run] === b[at + run]) run++;
  return run;
}

/** How many bytes at the end are equal; none of the first `start` counts. */
function equalEnd(before: Buffer, after: Buffer, start: number): number {
  const most = Math.min(before.length, after.length) - start;
  const [i, j] = [before.length, after.length];
  let end = CHUNK;
  while (end <= most && isEqual(before, i - end, after, j - end)) end += CHUNK;
  end -= CHUNK;
  while (end < most && before[i - end - 1] === after[j - end - 1]) end++;
  return end;
}

/** One call for many bytes: node compares them 20 times as fast as a loop. */
function isEqual(a: Buffer, from: number, b: Buffer, at: number): boolean {
  return a.compare(b, at, at + CHUNK, from, from + CHUNK) === 0;
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

const writer = new PatchWriter();

/**
 * An RFC 7386 patch between two objects in canonical JSON; undefined where none
 * can say it (it cannot set null), or where it would not be shorter.
 */
export function createMergePatch(
  before: Buffer,
  after: Buffer,
): Buffer | undefined {
  return writer.write(before, after);
}
