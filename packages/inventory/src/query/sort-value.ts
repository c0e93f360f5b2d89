/**
 * What a value sorts by; null: it has nothing to sort by and comes last in
 * either direction. Numbers come before texts. Values with equal sort values
 * are equal to the order, such as `VM1` and `vm01`.
 */
export type SortValue = number | string | null;

/** Beyond so many characters texts count as equal: it bounds cursors. */
export const SORT_TEXT_LENGTH = 256;

/** In natural order: case and accents ignored, numbers in texts by their value. Lists go by their members. */
export function toSortValue(value: unknown): SortValue {
  if (typeof value === "string") return toSortText(value);
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) return toSortText(JSON.stringify(value));
  if (value.length === 0) return null;
  return toSortText(value.map(toMemberText).join("\0"));
}

/** Null after all others; the sign as sort functions want it. */
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
/** Digits grow by two characters a run: by three times at most. */
const out = Buffer.alloc(3 * SORT_TEXT_LENGTH);

function toSortText(text: string): string {
  const start = text.slice(0, SORT_TEXT_LENGTH);
  return foldAscii(start) ?? foldAny(start);
}

/** The same as `foldAny`, ten times as fast; undefined for a text with other characters. */
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

/** Digits by their number first: among digits, so that texts with other characters there keep their place. */
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
