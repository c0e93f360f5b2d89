import { invalid } from "./ovf-error.js";

/** Names of OVF 0.9 and of some programs. */
const NAMED: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["byte", 1],
  ["bytes", 1],
  ["kilobytes", 2 ** 10],
  ["kb", 2 ** 10],
  ["megabytes", 2 ** 20],
  ["mb", 2 ** 20],
  ["gigabytes", 2 ** 30],
  ["gb", 2 ** 30],
]);

/**
 * Bytes of a quantity.
 * @param unit a programmatic unit (DSP0004), such as `byte * 2^20`, or a name
 * @throws RepositoryError `source-invalid`
 */
export function toBytes(quantity: string, unit: string): number {
  const factor = factorOf(unit);
  const bytes = /^\d{1,15}$/.test(quantity) ? Number(quantity) * factor : NaN;
  if (!Number.isSafeInteger(bytes))
    throw invalid(`a size of "${quantity.slice(0, 40)}" ${unit.slice(0, 40)}`);
  return bytes;
}

function factorOf(unit: string): number {
  const plain = unit.trim().toLowerCase();
  const named = NAMED.get(plain);
  if (named !== undefined) return named;
  const [, base, exponent] =
    /^byte\s*\*\s*(\d{1,4})\s*\^\s*(\d{1,2})$/.exec(plain) ?? [];
  if (base === undefined)
    throw invalid(
      `the unit "${unit.slice(0, 40)}"; such as "byte * 2^20" is expected`,
    );
  return Number(base) ** Number(exponent);
}
