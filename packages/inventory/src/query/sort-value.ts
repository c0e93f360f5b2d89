/**
 * Sort key of a value; null: the value has none and is last in either
 * direction. Numbers come before strings. Values with equal sort keys are equal
 * for the order, such as `VM1` and `vm01`.
 */
export type SortValue = number | string | null;

/** Maximum number of characters that are compared, which limits the size of cursors. */
const SORT_TEXT_LENGTH = 256;

/**
 * Sort key for natural order: ignores case and accents, compares numbers in
 * texts by value. Lists are compared by their members.
 */
export function toSortValue(value: unknown): SortValue {
  if (typeof value === "string") return toSortText(value);
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return toSortText(JSON.stringify(value));
  if (value.length === 0) return null;
  return toSortText(value.map(toMemberText).join("\0"));
}

/**
 * Compares sort keys, null last. @returns a negative number, 0 or a positive
 * number
 */
export function compareSortValues(a: SortValue, b: SortValue): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a < b ? -1 : 1;
}

function toMemberText(member: unknown): string {
  return typeof member === "string" ? member : JSON.stringify(member);
}

const ZERO = 0x30;
const NINE = 0x39;
/** Each run of digits grows by two characters: at most three times the length. */
const out = Buffer.alloc(3 * SORT_TEXT_LENGTH);

function toSortText(text: string): string {
  const start = text.slice(0, SORT_TEXT_LENGTH);
  return foldAscii(start) ?? foldAny(start);
}

/**
 * Like `foldAny` and ten times as fast; undefined for texts with other
 * characters.
 */
function foldAscii(text: string): string | undefined {
  let length = 0;
  for (let at = 0; at < text.length;) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) return undefined;
    if (unit >= ZERO && unit <= NINE) {
      const end = endOfDigits(text, at);
      length = writeDigits(text.slice(at, end), length);
      at = end;
      continue;
    }
    out[length++] = unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
    at++;
  }
  return out.toString("latin1", 0, Math.min(length, SORT_TEXT_LENGTH));
}

function foldAny(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/\d+/g, (digits) => {
      const length = writeDigits(digits, 0);
      return out.toString("latin1", 0, length);
    })
    .slice(0, SORT_TEXT_LENGTH);
}

function endOfDigits(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end++;
  return end;
}

/**
 * Writes a run of digits with its length first, so that longer numbers sort
 * higher. The prefix `0` keeps numbers among the digits relative to other
 * characters.
 */
function writeDigits(digits: string, to: number): number {
  let from = 0;
  while (from < digits.length - 1 && digits.charCodeAt(from) === ZERO) from++;
  let length = to;
  out[length++] = ZERO;
  out[length++] = ZERO + Math.min(digits.length - from, 0x40);
  for (; from < digits.length; from++) out[length++] = digits.charCodeAt(from);
  return length;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}
