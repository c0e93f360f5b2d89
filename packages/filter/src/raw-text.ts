/** Letters, marks, digits and `_ - . $`: characters of unquoted text. */
const CHARACTER = "\\p{L}\\p{M}\\p{Nd}_\\-.$";

const RAW_TEXT = new RegExp(`^[${CHARACTER}]+$`, "u");

/** Sticky expression for unquoted text. */
export function rawText(): RegExp {
  return new RegExp(`[${CHARACTER}]+`, "uy");
}

/** Sticky expression for unquoted text with stars. */
export function rawGlob(): RegExp {
  return new RegExp(`[${CHARACTER}*]+`, "uy");
}

/** Whether a text can be written without quotes. */
export function isRawText(text: string): boolean {
  return RAW_TEXT.test(text);
}

/**
 * The number that an unquoted text denotes, as JavaScript parses it; undefined
 * if none.
 */
export function numberOfRaw(text: string): number | undefined {
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : undefined;
}

/** Factors of units, by the unit in lower case. */
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  pb: 1e15,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  pib: 2 ** 50,
};

/** Units that are written; smaller multiples may not be sizes. */
const WRITTEN: readonly (readonly [unit: string, factor: number])[] = [
  ["TiB", 2 ** 40],
  ["GiB", 2 ** 30],
  ["MiB", 2 ** 20],
];

/** The shortest notation of the number behind a comparison operator: 8589934592 is `8GiB`. */
export function rawOfAmount(number: number): string {
  const found = WRITTEN.find(([, factor]) => number % factor === 0);
  if (found === undefined || number <= 0 || number / found[1] >= 1e6)
    return String(number).replace("+", "");
  const [unit, factor] = found;
  return `${number / factor}${unit}`;
}

/**
 * The number behind a comparison operator, with an optional unit of bytes:
 * `8GiB` is 8589934592; undefined: it is none.
 */
export function amountOfRaw(text: string): number | undefined {
  const found = /^([\d.]+)([kmgtp]?i?b)$/i.exec(text);
  if (found === null) return numberOfRaw(text);
  const number = numberOfRaw(found[1]!);
  const factor = UNITS[found[2]!.toLowerCase()];
  return number === undefined || factor === undefined
    ? undefined
    : number * factor;
}
