import type { ObjectRow } from "../api/object-row.js";
import type { Column, ColumnValue } from "./column.js";

/**
 * Rows as CSV (RFC 4180): values as the server has them (bytes, shares, ISO times), so that a
 * table program can reckon with them.
 */
export function toCsv(
  columns: readonly Column[],
  names: readonly string[],
  rows: readonly ObjectRow[],
): string {
  const lines = rows.map((row) =>
    columns.map((column) => quote(plain(column, column.value(row)))).join(),
  );
  return [names.map(quote).join(), ...lines, ""].join("\r\n");
}

function plain(column: Column, value: ColumnValue): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number")
    return column.kind === "time" || column.kind === "age"
      ? new Date(value * 1000).toISOString()
      : String(value);
  if (typeof value === "string" || typeof value === "boolean")
    return String(value);
  if ("length" in value) return value.join(" ");
  return value.used === undefined ? "" : String(value.used);
}

/** A text that a table program would take for a formula is made one that it shows. */
function quote(text: string): string {
  const shown = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
  const safe = shown ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
