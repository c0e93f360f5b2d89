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

function toSortText(text: string): string {
  let folded = text.slice(0, SORT_TEXT_LENGTH).toLowerCase();
  // ASCII has no accents to fold.
  if (/[^\0-\x7f]/.test(folded))
    folded = folded.normalize("NFD").replace(/\p{Mn}/gu, "");
  return folded.replace(/\d+/g, toSortDigits).slice(0, SORT_TEXT_LENGTH);
}

/** Digits by their number first: among digits, so that texts with other characters there keep their place. */
function toSortDigits(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, "");
  return `0${String.fromCharCode(0x30 + Math.min(significant.length, 0x40))}${significant}`;
}
