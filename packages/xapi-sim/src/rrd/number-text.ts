/** Formats a number as xapi-rrd does: C's `%0.15g`, but `0.0` for zero, `NaN`, `Infinity` and `-Infinity`. */
export function toRrdNumber(value: number): string {
  if (value === 0) return "0.0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  // Neither C nor JavaScript writes an exponent in this range; much faster than the general case below.
  if (size >= 1e-4 && size < 1e14) return String(Number(value.toPrecision(15)));
  const [mantissa, exponent] = value.toExponential(14).split("e") as [
    string,
    string,
  ];
  const power = Number(exponent);
  if (power >= -4 && power < 15) return stripZeros(value.toFixed(14 - power));
  const digits = String(Math.abs(power)).padStart(2, "0");
  return `${stripZeros(mantissa)}e${power < 0 ? "-" : "+"}${digits}`;
}

function stripZeros(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}
