/**
 * Greatest absolute value that is sent: the last double below 2^63, so that
 * clients with 64-bit integers can hold it.
 */
const LIMIT = 2 ** 63 - 1024;

/** Characters of the longest 64-bit integer, including the sign. */
const MAX_DIGITS = 20;

/**
 * Converts a XAPI integer: a number (JSON-RPC), a string (XML-RPC) or, above
 * 2^53, a BigInt; the last becomes the nearest double.
 * @returns undefined for anything else
 */
export function toInteger(value: unknown): number | undefined {
  if (typeof value === "number")
    return Number.isInteger(value) ? clamp(value) : undefined;
  if (typeof value === "string")
    return isDecimal(value) ? clamp(Number(value)) : undefined;
  return typeof value === "bigint" ? clamp(Number(value)) : undefined;
}

/**
 * Converts a XAPI float or a number in a map of strings; undefined for NaN and
 * infinity, which JSON cannot represent.
 */
export function toNumber(value: unknown): number | undefined {
  if (typeof value === "string" && value.trim() === "") return undefined;
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function clamp(value: number): number {
  // Adding 0 turns -0 into 0.
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
