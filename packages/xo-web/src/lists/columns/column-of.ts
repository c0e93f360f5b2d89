import type { ObjectRow } from "../../api/object-row.js";
import type { Column, ColumnId, ColumnKind, ColumnValue } from "./column.js";

/** The differences of a column from the property of the same name. */
interface More {
  readonly sortBy?: string;
  readonly fields?: readonly string[];
  readonly grows?: boolean;
  readonly of?: string;
  readonly value?: (row: ObjectRow) => ColumnValue;
}

/** A column of the property with the same name, by default. */
export function column(
  id: ColumnId,
  kind: ColumnKind,
  width: number,
  more: More = {},
): Column {
  const path = more.sortBy ?? id;
  const isNow = path.startsWith("now.");
  const names = path.split(".");
  return {
    id,
    kind,
    width,
    fields: [isNow ? path : names[0]!],
    value: (row) => valueAt(row, names),
    ...(kind === "object" ? {} : { sortBy: path }),
    ...more,
  };
}

/** Reads a nested value; undefined if a name is missing. */
export function valueAt(row: ObjectRow, names: readonly string[]): ColumnValue {
  let value: unknown = row;
  for (const name of names)
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, name)
        ? (value as Readonly<Record<string, unknown>>)[name]
        : undefined;
  return value as ColumnValue;
}

/** The column without a sort key: the server cannot sort by it. */
export function unsorted(column: Column): Column {
  const rest: { sortBy?: string } & Column = { ...column };
  delete rest.sortBy;
  return rest;
}
/** The column, visible until the user chooses columns. */
export const shown = (column: Column): Column => ({ ...column, isShown: true });
/** A column with a link to another object. @param of property with its id */
export const object = (id: ColumnId, of: string): Column =>
  column(id, "object", 11, { of });

/** @param without number of elements that do not count */
export function countOf(list: unknown, without = 0): number | undefined {
  return Array.isArray(list) ? Math.max(list.length - without, 0) : undefined;
}

/** The string; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The strings of a list; undefined for anything else. */
export function textsOf(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.filter((one) => typeof one === "string")
    : undefined;
}

/** The number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
