/** Powers of ten that a double represents exactly. */
const POWERS = Array.from({ length: 23 }, (_, i) => 10 ** i);

/**
 * The shortest decimal number that rounds to the same Float32: 0.1, not
 * 0.10000000149011612.
 */
export function shortest(value: number): number {
  if (Number.isInteger(value) || !Number.isFinite(value)) return value;
  // Float32 has 7 to 9 digits.
  const decimals = 6 - Math.floor(Math.log10(Math.abs(value)));
  for (let more = 0; more < 3; more++) {
    const power = POWERS[decimals + more];
    if (power === undefined) break;
    const short = Math.round(value * power) / power;
    if (Math.fround(short) === value) return short;
  }
  return value;
}
