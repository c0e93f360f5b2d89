import type { ColumnSet } from "../stats/column-set.js";
import { measuredFamilies } from "./measured-families.js";

/** A column of one family. */
interface FamilyColumn {
  readonly column: number;
  /** Value of the family's label. */
  readonly label: string;
}

type ColumnsByFamily = ReadonlyMap<number, readonly FamilyColumn[]>;

/** Columns by the index of their family in measuredFamilies, computed once per set of columns. */
export class FamilyColumns {
  readonly #byShape = new WeakMap<ColumnSet, ColumnsByFamily>();

  of(columnSet: ColumnSet): ColumnsByFamily {
    const columns = this.#byShape.get(columnSet) ?? findColumns(columnSet);
    this.#byShape.set(columnSet, columns);
    return columns;
  }
}

function findColumns(columnSet: ColumnSet): ColumnsByFamily {
  const found = new Map<number, FamilyColumn[]>();
  for (const [column, name] of columnSet.names.entries()) {
    const match = findFamily(columnSet.type, name);
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
