/**
 * The splitter's inner loop for `get_all_records`, in AssemblyScript: units
 *
 *   "OpaqueRef:...":{ ... },
 *
 * are validated sixteen bytes at a time, and their rows, columns and digests are
 * written. Only ordinary input is handled: at the first unusual byte (white space
 * between tokens, an unquoted NaN, an integer of more than 15 digits, an error,
 * the end of the bytes) it stops before that unit. The splitter in TypeScript
 * then reads that unit and continues here. So all errors are reported in one
 * place. `test/record-units.test.ts` compares the two implementations.
 *
 * Memory, laid out by the caller (src/formats/record-units.ts): the bytes, then
 * the names of the columns, then the rows and columns found.
 */

const QUOTE: u32 = 0x22;
const COMMA: u32 = 0x2c;
const MINUS: u32 = 0x2d;
const DOT: u32 = 0x2e;
const COLON: u32 = 0x3a;
const BACKSLASH: u32 = 0x5c;
const LETTER_U: u32 = 0x75;

/** Tokens that are expected at the position. */
const KEY: u32 = 0;
const VALUE: u32 = 1;
const AFTER: u32 = 2;
const FIRST_KEY: u32 = 3;
const FIRST_VALUE: u32 = 4;

/** No position is 0: the bytes follow the stack. */
const STOP: u32 = 0;

/** Maximum nesting depth here; deeper records are left to the splitter. */
const DEEPEST: u32 = 200;

/** RECORD_STRIDE numbers of 4 bytes. */
const ROW_BYTES: u32 = 44;

// Set by `prepare`.
let slots: u32 = 0;
let entries: u32 = 0;
let columnCount: u32 = 0;

// Results of `split` besides the position.
let foundRows: u32 = 0;

// Address for the columns of the current record.
let pairs: u32 = 0;

/**
 * The names of the columns: `slotTable` has 128 bytes, each the number of an
 * entry plus one, or 0; an entry has 16 bytes: where its name is, its length,
 * its column, the next entry plus one.
 */
export function prepare(slotTable: u32, entryTable: u32, columns: u32): void {
  slots = slotTable;
  entries = entryTable;
  columnCount = columns;
}

/** Number of rows that the last `split` wrote. */
export function rows(): u32 {
  return foundRows;
}

/**
 * Reads units from `pos` on, which is where a comma or, with `first`, a
 * reference stands. Offsets in rows count from `base`.
 * @returns the position behind the last unit that was read
 */
export function split(
  pos: u32,
  end: u32,
  base: u32,
  first: bool,
  classIndex: u32,
  table: u32,
  columns: u32,
  columnsUsed: u32,
  maxRows: u32,
): u32 {
  let used = pos;
  let row = table;
  let column = columns;
  let pairIndex = columnsUsed;
  let start = first;
  foundRows = 0;
  while (foundRows < maxRows) {
    let at = used;
    if (!start) {
      if (load<u8>(at) != COMMA) break;
      at++;
    }
    if (load<u8>(at) != QUOTE) break;
    const ref = at + 1;
    at = reference(ref);
    if (at == STOP) break;
    const refLength = at - ref;
    if (load<u8>(at + 1) != COLON) break;
    const record = at + 2;
    if (load<u8>(record) != 0x7b) break;
    memory.fill(column, 0, columnCount * 8);
    pairs = column;
    at = value(record, base);
    if (at == STOP || at >= end) break;
    const length = at - record;
    store<u32>(row, ref - base);
    store<u32>(row, refLength, 4);
    store<u32>(row, hash(ref, refLength), 8);
    store<u32>(row, classIndex, 12);
    store<u32>(row, 0, 16);
    store<u32>(row, record - base, 20);
    store<u32>(row, length, 24);
    store<u32>(row, 0, 28);
    digest(record, length, row + 32);
    store<i32>(row, columnCount > 0 ? <i32>pairIndex : -1, 40);
    row += ROW_BYTES;
    column += columnCount * 8;
    pairIndex += columnCount * 2;
    foundRows++;
    used = at;
    start = false;
  }
  return used;
}

/** A reference without escapes. @returns the position of its closing quote, or STOP */
function reference(pos: u32): u32 {
  let at = pos;
  let c: u32 = load<u8>(at);
  while (c != QUOTE && c != BACKSLASH && c >= 0x20) c = load<u8>(++at);
  return c == QUOTE ? at : STOP;
}

/** 32-bit FNV-1a; see hashRef of the model. */
function hash(pos: u32, length: u32): u32 {
  let result: u32 = 0x811c9dc5;
  for (let at = pos, end = pos + length; at < end; at++)
    result = (result ^ load<u8>(at)) * 0x01000193;
  return result;
}

/** A record. @returns the position after it, or STOP */
function value(pos: u32, base: u32): u32 {
  let at = pos;
  let depth: u32 = 0;
  let inObject: u32 = 0;
  let mode = VALUE;
  let column: i32 = -1;
  let valueAt = pos;
  while (true) {
    const c: u32 = load<u8>(at);
    if (c == QUOTE) {
      if (mode == AFTER) return STOP;
      const start = at + 1;
      at = string(start);
      if (at == STOP) return STOP;
      if (mode == KEY || mode == FIRST_KEY) {
        if (depth == 1) column = find(start, at - 1 - start);
        if (load<u8>(at) != COLON) return STOP;
        at++;
        mode = VALUE;
        if (depth == 1) valueAt = at;
        continue;
      }
    } else if (mode == AFTER && c == COMMA) {
      at++;
      mode = inObject != 0 ? KEY : VALUE;
      continue;
    } else if (mode >= AFTER && c == (inObject != 0 ? 0x7d : 0x5d)) {
      at++;
      depth--;
      inObject = load<u8>(depth);
    } else if (mode != VALUE && mode != FIRST_VALUE) {
      return STOP;
    } else if (c == 0x7b || c == 0x5b) {
      if (depth >= DEEPEST) return STOP;
      store<u8>(depth++, <u8>inObject);
      inObject = c == 0x7b ? 1 : 0;
      mode = c == 0x7b ? FIRST_KEY : FIRST_VALUE;
      at++;
      continue;
    } else {
      at = literal(at, c);
      if (at == STOP) return STOP;
    }
    if (depth == 0) return at;
    mode = AFTER;
    if (column >= 0 && depth == 1) {
      const pair = pairs + ((<u32>column) << 3);
      store<u32>(pair, valueAt - base);
      store<u32>(pair, at - valueAt, 4);
      column = -1;
    }
  }
}

/** A string whose opening quote is before `pos`. @returns the position after it, or STOP */
function string(pos: u32): u32 {
  let at = pos;
  while (true) {
    const chunk = v128.load(at);
    const odd = v128.or(
      v128.or(
        i8x16.eq(chunk, i8x16.splat(0x22)),
        i8x16.eq(chunk, i8x16.splat(0x5c)),
      ),
      i8x16.lt_u(chunk, i8x16.splat(0x20)),
    );
    const mask = i8x16.bitmask(odd);
    if (mask == 0) {
      at += 16;
      continue;
    }
    at += ctz(mask);
    const c: u32 = load<u8>(at);
    if (c == QUOTE) return at + 1;
    if (c != BACKSLASH) return STOP;
    const escape: u32 = load<u8>(at + 1);
    at += 2;
    if (escape == LETTER_U) {
      for (const last = at + 4; at < last; at++)
        if (!isHex(load<u8>(at))) return STOP;
    } else if (!isEscape(escape)) return STOP;
  }
}

function isEscape(c: u32): bool {
  return (
    c == QUOTE ||
    c == BACKSLASH ||
    c == 0x2f ||
    c == 0x62 ||
    c == 0x66 ||
    c == 0x6e ||
    c == 0x72 ||
    c == 0x74
  );
}

function isHex(c: u32): bool {
  const letter = c | 0x20;
  return c - 0x30 <= 9 || letter - 0x61 <= 5;
}

/** A number of at most 15 digits before the point, true, false or null. */
function literal(pos: u32, c: u32): u32 {
  if (c - 0x30 <= 9 || c == MINUS) return number(pos);
  const word = load<u32>(pos);
  if (word == 0x65757274 || word == 0x6c6c756e) return pos + 4;
  if (word == 0x736c6166 && load<u8>(pos + 4) == 0x65) return pos + 5;
  return STOP;
}

function number(pos: u32): u32 {
  const start = load<u8>(pos) == MINUS ? pos + 1 : pos;
  let at = digits(start);
  if (at == start || at - start > 15) return STOP;
  if (load<u8>(start) == 0x30 && at > start + 1) return STOP;
  if (load<u8>(at) == DOT) {
    const fraction = at + 1;
    at = digits(fraction);
    if (at == fraction) return STOP;
  }
  // Exponents are rare and left to the splitter.
  return (load<u8>(at) | 0x20) == 0x65 || at - pos > 100 ? STOP : at;
}

function digits(pos: u32): u32 {
  let at = pos;
  while (<u32>load<u8>(at) - 0x30 <= 9) at++;
  return at;
}

/** The column of a key, or -1. The slot is that of src/formats/name-index.ts. */
function find(pos: u32, length: u32): i32 {
  if (length == 0) return -1;
  const ends = <u32>load<u8>(pos) * 7 + <u32>load<u8>(pos + length - 1) * 31;
  let entry: u32 = load<u8>(slots + ((length * 13 + ends) & 127));
  while (entry != 0) {
    const at = entries + ((entry - 1) << 4);
    if (
      load<u32>(at, 4) == length &&
      memory.compare(load<u32>(at), pos, length) == 0
    )
      return load<i32>(at, 8);
    entry = load<u32>(at, 12);
  }
  return -1;
}

/** The two halves of the digest; the same as src/formats/digest.ts. */
function digest(pos: u32, length: u32, to: u32): void {
  let high: u32 = 0x9e3779b9 ^ length;
  let low: u32 = 0x7f4a7c15 ^ length;
  let at = pos;
  const end = pos + length;
  for (const words = pos + (length & ~7); at < words; at += 8) {
    high = rotl<u32>((high ^ load<u32>(at)) * 0x85ebca6b, 13);
    low = rotl<u32>((low ^ load<u32>(at, 4)) * 0xc2b2ae35, 15);
  }
  for (; at < end; at++) {
    const byte: u32 = load<u8>(at);
    high = rotl<u32>((high ^ byte) * 0x85ebca6b, 13);
    low = ((low + byte) * 0xc2b2ae35) ^ (low >>> 15);
  }
  high = finish(high ^ (low >>> 7));
  store<u32>(to, high);
  store<u32>(to, finish(low ^ high), 4);
}

function finish(word: u32): u32 {
  let result = (word ^ (word >>> 16)) * 0x85ebca6b;
  result = (result ^ (result >>> 13)) * 0xc2b2ae35;
  return result ^ (result >>> 16);
}
