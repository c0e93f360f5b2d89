const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;

/** Powers of ten that a double represents exactly. */
const POWERS = Array.from({ length: 23 }, (_, i) => 10 ** i);

/**
 * A number of `bytes[from..to)` as xapi-rrd writes it, `%0.15g`: at most 15
 * digits and a small power of ten need one exact division. Everything else
 * (exponents, `NaN`, `Infinity`) is parsed by Number; invalid numbers are NaN.
 */
export function readDecimal(
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  const isNegative = bytes[from] === MINUS;
  let digits = 0;
  let mantissa = 0;
  let dot = -1;
  for (let at = isNegative ? from + 1 : from; at < to; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
    } else if (bytes[at] === DOT && dot === -1) dot = at;
    else return readSlowly(bytes, from, to);
  }
  const decimals = dot === -1 ? 0 : to - dot - 1;
  if (digits === 0 || mantissa > Number.MAX_SAFE_INTEGER || decimals > 22)
    return readSlowly(bytes, from, to);
  const value = mantissa / POWERS[decimals]!;
  return isNegative ? -value : value;
}

/** Longer than any valid number. */
const LONGEST = 64;

function readSlowly(bytes: Uint8Array, from: number, to: number): number {
  const text = Buffer.from(
    bytes.buffer,
    bytes.byteOffset + from,
    Math.min(to - from, LONGEST),
  )
    .toString("latin1")
    .trim();
  return text === "" ? NaN : Number(text);
}
