/** C's `%.16g`: what XAPI writes into XML. */
export function toG16(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa, exponent] = value.toExponential(15).split("e") as [
    string,
    string,
  ];
  const power = Number(exponent);
  if (power < -4 || power >= 16) {
    const digits = stripZeros(mantissa);
    const sign = power < 0 ? "-" : "+";
    return `${digits}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return stripZeros(value.toFixed(Math.max(0, 15 - power)));
}

/** A float as Yojson writes it: 16 digits, 17 where 16 lose something; whole numbers as `4.0`; NaN and infinities bare. */
export function toJsonFloat(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return `${value}.0`;
  if (!Number.isFinite(value)) return String(value);
  let text = toG16(value);
  if (Number(text) !== value) text = toG17(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function toG17(value: number): string {
  const [mantissa, exponent] = value.toExponential(16).split("e") as [
    string,
    string,
  ];
  const power = Number(exponent);
  if (power < -4 || power >= 17) {
    const sign = power < 0 ? "-" : "+";
    return `${stripZeros(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return stripZeros(value.toFixed(Math.max(0, 16 - power)));
}

function stripZeros(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}
