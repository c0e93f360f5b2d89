import { XoError } from "@xo-server/model";
import type { ColumnMetadata, TableMetadata } from "kysely";
import { isRenamedTable, withCurrentNames } from "../schema/old-names.js";
import { sealedColumns } from "../secrets/sealed-columns.js";
import type { Vault } from "../secrets/vault.js";
import type { Value } from "../schema/tables.js";

export type PortableRow = Readonly<Record<string, Value>> & {
  readonly id: string;
};

/** A row for export, with its secret decrypted: the file is encrypted as a whole. */
export function toPortable(
  table: string,
  row: PortableRow,
  vault: Vault,
): PortableRow {
  const sealed = sealedColumns.get(table);
  const value = sealed && row[sealed.column];
  if (!sealed || typeof value !== "string") return row;
  const text = vault.open(value, sealed.contextOf(row.id));
  return { ...row, [sealed.column]: text };
}

/** @throws XoError IMPORT_INVALID if the row does not fit the table */
export function fromPortable(
  table: TableMetadata,
  value: unknown,
  vault: Vault,
): PortableRow {
  const row = withNames(table.name, checkRow(table, value));
  const sealed = sealedColumns.get(table.name);
  const text = sealed && row[sealed.column];
  if (!sealed || typeof text !== "string") return row;
  return {
    ...row,
    [sealed.column]: vault.seal(text, sealed.contextOf(row.id)),
  };
}

/** Rows may have the names of release 0.1, whose exports have the same format. */
function withNames(table: string, row: PortableRow): PortableRow {
  if (!isRenamedTable(table)) return row;
  try {
    const json = withCurrentNames(table, row["body_json"] as string);
    return { ...row, body_json: json };
  } catch {
    throw invalid(`body_json is not JSON in a row of ${table}`);
  }
}

function checkRow(table: TableMetadata, value: unknown): PortableRow {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(`a row of ${table.name} is not an object`);
  const cells = new Map(Object.entries(value));
  const row = table.columns.map((column) => {
    const cell = cells.get(column.name) as unknown;
    cells.delete(column.name);
    return [column.name, checkCell(table.name, column, cell)] as const;
  });
  for (const name of cells.keys())
    throw invalid(`${table.name} has no column ${name.slice(0, 64)}`);
  return Object.fromEntries(row) as PortableRow;
}

function checkCell(
  table: string,
  column: ColumnMetadata,
  cell: unknown,
): Value {
  if (cell === undefined || cell === null) {
    if (column.isNullable) return null;
    throw invalid(`${column.name} is missing in a row of ${table}`);
  }
  const isRight =
    column.dataType.toLowerCase() === "text"
      ? typeof cell === "string" && !/\0|\p{Surrogate}/u.test(cell)
      : Number.isSafeInteger(cell);
  if (isRight) return cell as Value;
  throw invalid(`${column.name} has the wrong type in a row of ${table}`);
}

/** XoError IMPORT_INVALID */
export function invalid(reason: string): XoError {
  return new XoError("IMPORT_INVALID", { reason });
}
