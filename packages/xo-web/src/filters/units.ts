import type { Property } from "./properties.js";

/** Units of a property. Sizes are binary, as usual for memory and disks of VMs. */
interface FilterUnit {
  readonly name: string;
  readonly factor: number;
}

const sizes: readonly FilterUnit[] = [
  { name: "GiB", factor: 2 ** 30 },
  { name: "MiB", factor: 2 ** 20 },
  { name: "TiB", factor: 2 ** 40 },
  { name: "KiB", factor: 2 ** 10 },
  { name: "B", factor: 1 },
];

const rates: readonly FilterUnit[] = [
  { name: "MB/s", factor: 1e6 },
  { name: "kB/s", factor: 1e3 },
  { name: "GB/s", factor: 1e9 },
  { name: "B/s", factor: 1 },
];

const shares: readonly FilterUnit[] = [{ name: "%", factor: 0.01 }];

const plain: readonly FilterUnit[] = [{ name: "", factor: 1 }];

const byUnit = {
  bytes: sizes,
  rate: rates,
  share: shares,
  mbits: [{ name: "Mbit/s", factor: 1 }],
};

/** The units of a property, the usual one first. */
export function unitsOf({
  unit,
}: Pick<Property, "unit">): readonly FilterUnit[] {
  return unit === undefined ? plain : byUnit[unit];
}

/** The unit with the shortest number: 4096 MiB become 4 GiB. */
export function unitFor(
  property: Pick<Property, "unit">,
  value: number,
): FilterUnit {
  const units = unitsOf(property);
  const descending = units.toSorted((a, b) => b.factor - a.factor);
  return (
    descending.find(({ factor }) => value !== 0 && isShort(value / factor)) ??
    units[0]!
  );
}

/** Converts to a unit without floating-point error: 0.07 is 7 %, not 7.000000000000001. */
export function inUnit(value: number, { factor }: FilterUnit): number {
  return Number((value / factor).toPrecision(12));
}

/** Rounded to 12 digits: products of decimal fractions are not exact. */
export function fromUnit(value: number, { factor }: FilterUnit): number {
  return Number((value * factor).toPrecision(12));
}

function isShort(value: number): boolean {
  return (
    Math.abs(value) >= 1 &&
    Number(value.toFixed(2)) === Number(value.toFixed(9))
  );
}
