const DASH = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const LETTER_T = 0x54;
const LETTER_Z = 0x5a;

/**
 * A XAPI date (`20260101T00:00:00Z`, also with dashes or without Z: both UTC)
 * in seconds since 1970; a fraction is cut off.
 * @returns undefined for what is no date, and for 1970 itself, which is XAPI's "never"
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

/** Seconds since 1970 as XAPI's maps have them (`"1790000000."`), whole; undefined for none. */
export function toWholeSeconds(value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const seconds = Math.floor(Number.parseFloat(value));
  return seconds > 0 && seconds < MAX_SECONDS ? seconds : undefined;
}

/** The last second that a JavaScript Date can hold. */
const MAX_SECONDS = 8.64e12;

/** `00:00:00` and then the end, a Z or a fraction. */
function isTimeShaped(text: string, at: number): boolean {
  const end = at + 8;
  if (text.charCodeAt(at + 2) !== COLON || text.charCodeAt(at + 5) !== COLON)
    return false;
  if (text.length === end) return true;
  const tail = text.charCodeAt(end);
  if (tail === LETTER_Z) return text.length === end + 1;
  return tail === DOT && text.charCodeAt(text.length - 1) === LETTER_Z;
}

/** NaN where there is anything else. */
function digits(text: string, at: number, count: number): number {
  let number = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return NaN;
    number = 10 * number + digit;
  }
  return number;
}
