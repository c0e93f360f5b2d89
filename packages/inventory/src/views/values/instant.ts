const DASH = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;

/**
 * Parses a XAPI date (`20260101T00:00:00Z`, also with dashes or without Z: both
 * are UTC) to seconds since the epoch; fractions are cut off.
 * @returns undefined for invalid dates and for 1970-01-01, which XAPI uses for
 *   "never"
 */
export function toSeconds(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const dash = value.charCodeAt(4) === DASH ? 1 : 0;
  const time = 8 + 2 * dash;
  if (value.charCodeAt(time) !== LETTER_T || !isTimeShaped(value, time + 1))
    return undefined;
  const seconds =
    Date.UTC(
      digits(value, 0, 4),
      digits(value, 4 + dash, 2) - 1,
      digits(value, 6 + 2 * dash, 2),
      digits(value, time + 1, 2),
      digits(value, time + 4, 2),
      digits(value, time + 7, 2),
    ) / 1000;
  return seconds > 0 ? seconds : undefined;
}

/**
 * Parses seconds since the epoch as in XAPI's maps (`"1790000000."`) to an
 * integer; undefined when invalid.
 */
export function toWholeSeconds(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const seconds = Math.floor(Number.parseFloat(value));
  return seconds > 0 && seconds < MAX_SECONDS ? seconds : undefined;
}

/** Greatest value of a JavaScript Date, in seconds. */
const MAX_SECONDS = 8.64e12;

/** Whether `00:00:00` follows, then the end, a Z or a fraction. */
function isTimeShaped(text: string, at: number): boolean {
  const end = at + 8;
  if (text.charCodeAt(at + 2) !== COLON || text.charCodeAt(at + 5) !== COLON)
    return false;
  if (text.length === end) return true;
  const tail = text.charCodeAt(end);
  if (tail === LETTER_Z) return text.length === end + 1;
  return tail === DOT && text.charCodeAt(text.length - 1) === LETTER_Z;
}

/** NaN when there are other characters. */
function digits(text: string, at: number, count: number): number {
  let number = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    number = 10 * number + digit;
  }
  return number;
}
