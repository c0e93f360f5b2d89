/**
 * The columns of an object, in order. Objects with the same columns share one
 * set.
 */
export interface ColumnSet {
  readonly type: "host" | "vm" | "sr";
  readonly names: readonly string[];
}

/** Limit of the lookup table; sets in use stay alive with their objects. */
const MAX_SETS = 10_000;

const columnSets = new Map<string, ColumnSet>();

/** @param names separated by tabs, as in legends */
export function columnSetOf(
  type: string,
  names: string,
): ColumnSet | undefined {
  if (!isType(type)) return undefined;
  const key = `${type}\t${names}`;
  let columnSet = columnSets.get(key);
  if (columnSet === undefined) {
    if (columnSets.size >= MAX_SETS) columnSets.clear();
    columnSets.set(key, (columnSet = { type, names: names.split("\t") }));
  }
  return columnSet;
}

function isType(type: string): type is ColumnSet["type"] {
  return type === "host" || type === "vm" || type === "sr";
}
