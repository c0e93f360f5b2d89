const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/**
 * A size in messages to users: `1.5 GiB`. Four significant digits, so that 1,023 of
 * a unit are not rounded to 1,020.
 */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; Math.abs(value) >= 1024 && unit < UNITS.length - 1; unit++)
    value /= 1024;
  return `${Number(value.toPrecision(4))} ${UNITS[unit]!}`;
}
