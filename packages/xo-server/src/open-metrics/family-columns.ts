import type { Shape } from "../stats/shape.js";
import { measuredFamilies } from "./measured-families.js";

/** A column of one family. */
export interface FamilyColumn {
  readonly column: number;
  /** Value of the family's label. */
  readonly label: string;
}

const known = new WeakMap<Shape, ReadonlyMap<number, FamilyColumn[]>>();

/** Columns of a shape by the number of their family; found once a shape. */
export function familyColumns(
  shape: Shape,
): ReadonlyMap<number, readonly FamilyColumn[]> {
  const before = known.get(shape);
  if (before !== undefined) return before;
  const found = new Map<number, FamilyColumn[]>();
  for (const [column, name] of shape.names.entries()) {
    const match = find(shape.type, name);
    if (match === undefined) continue;
    const of = found.get(match.family) ?? [];
    of.push({ column, label: match.label });
    found.set(match.family, of);
  }
  known.set(shape, found);
  return found;
}

function find(type: string, name: string) {
  for (const [family, one] of measuredFamilies.entries()) {
    if (one.type !== type) continue;
    const match = one.pattern.exec(name);
    if (match !== null) return { family, label: match[1] ?? "" };
  }
  return undefined;
}
