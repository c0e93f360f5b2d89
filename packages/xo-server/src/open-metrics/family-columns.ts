import type { Legend, Measured } from "../stats/legend.js";
import { measuredFamilies } from "./measured-families.js";

/** Columns of one family in a host's measurements. */
export interface FamilyColumns {
  /** Whose the columns are; as many as columns. */
  readonly uuids: string[];
  readonly columns: number[];
  /** Values of the family's label. */
  readonly labels: string[];
}

interface Match {
  readonly family: number;
  readonly label: string;
}

/** What a name of a column means: there are few different ones. */
const meanings = new Map<string, Match | undefined>();
const MOST_MEANINGS = 10_000;

const known = new WeakMap<Legend, ReadonlyMap<number, FamilyColumns>>();

/** Columns of a legend by the number of their family; found once a legend. */
export function* familyColumns(
  legend: Legend,
): Generator<void, ReadonlyMap<number, FamilyColumns>, void> {
  const before = known.get(legend);
  if (before !== undefined) return before;
  const found = new Map<number, FamilyColumns>();
  for (const uuid of legend.uuids) {
    collect(uuid, legend.of(uuid)!, found);
    yield;
  }
  known.set(legend, found);
  return found;
}

function collect(
  uuid: string,
  { type, names, columns }: Measured,
  found: Map<number, FamilyColumns>,
): void {
  for (const [i, name] of names.entries()) {
    const match = meaningOf(type, name);
    if (match === undefined) continue;
    let of = found.get(match.family);
    if (of === undefined)
      found.set(match.family, (of = { uuids: [], columns: [], labels: [] }));
    of.uuids.push(uuid);
    of.columns.push(columns[i]!);
    of.labels.push(match.label);
  }
}

function meaningOf(type: string, name: string): Match | undefined {
  const key = `${type} ${name}`;
  if (meanings.has(key)) return meanings.get(key);
  const match = find(type, name);
  if (meanings.size < MOST_MEANINGS) meanings.set(key, match);
  return match;
}

function find(type: string, name: string): Match | undefined {
  for (const [family, one] of measuredFamilies.entries()) {
    if (one.type !== type) continue;
    const found = one.pattern.exec(name);
    if (found !== null) return { family, label: found[1] ?? "" };
  }
  return undefined;
}
