import type { Shape } from "../stats/shape.js";
import { measuredFamilies } from "./measured-families.js";

/** A column of one family. */
export interface FamilyColumn {
  readonly column: number;
  /** Value of the family's label. */
  readonly label: string;
}

type ColumnsByFamily = ReadonlyMap<number, readonly FamilyColumn[]>;

/** Columns by the index of their family in measuredFamilies, computed once per shape. */
export class FamilyColumns {
  readonly #byShape = new WeakMap<Shape, ColumnsByFamily>();

  of(shape: Shape): ColumnsByFamily {
    const columns = this.#byShape.get(shape) ?? findColumns(shape);
    this.#byShape.set(shape, columns);
    return columns;
  }
}

function findColumns(shape: Shape): ColumnsByFamily {
  const found = new Map<number, FamilyColumn[]>();
  for (const [column, name] of shape.names.entries()) {
    const match = findFamily(shape.type, name);
    if (match === undefined) continue;
    const columns = found.get(match.family) ?? [];
    columns.push({ column, label: match.label });
    found.set(match.family, columns);
  }
  return found;
}

function findFamily(type: string, name: string) {
  for (const [family, one] of measuredFamilies.entries()) {
    if (one.type !== type) continue;
    const match = one.pattern.exec(name);
    if (match !== null) return { family, label: match[1] ?? "" };
  }
  return undefined;
}
