/**
 * Furthest from zero that is sent: the last double below 2^63, so that a
 * reader with 64-bit integers can hold whatever comes.
 */
const LIMIT = 2 ** 63 - 1024;

/** Digits of the longest 64-bit integer, and its sign. */
const MAX_DIGITS = 20;

/**
 * A XAPI integer as a whole number. It comes as a number (JSON-RPC), as text
 * (XML-RPC) or, past 2^53, as BigInt; from there on the nearest double is given.
 * @returns undefined for what is no whole number
 */
export function toInteger(value: unknown): number | undefined {
  if (typeof value === "number")
    return Number.isInteger(value) ? clamp(value) : undefined;
  if (typeof value === "string")
    return isDecimal(value) ? clamp(Number(value)) : undefined;
  return typeof value === "bigint" ? clamp(Number(value)) : undefined;
}

/** A XAPI float, or a number in a map of texts; undefined for NaN and infinity, which JSON cannot carry. */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "string" && value.trim() === "") return undefined;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function clamp(value: number): number {
  // No -0: it has no text of its own.
  return Math.min(Math.max(value, -LIMIT), LIMIT) + 0;
}

function isDecimal(text: string): boolean {
  const { length } = text;
  const start = text.charCodeAt(0) === 0x2d ? 1 : 0;
  if (length === start || length > MAX_DIGITS) return false;
  for (let i = start; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}
