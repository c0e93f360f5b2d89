/** C's `%0.15g` as xapi-rrd writes numbers: zero is `0.0`, and NaN and infinities have names. */
export function toRrdNumber(value: number): string {
  if (value === 0) return "0.0";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  // Where neither writes an exponent: as C does, and much faster than below.
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
