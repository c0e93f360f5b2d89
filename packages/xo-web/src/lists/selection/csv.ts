import type { ObjectRow } from "../../api/object-row.js";
import type { Column, ColumnValue } from "../columns/column.js";

/**
 * Units of the columns of a file: bytes instead of GiB, so that a spreadsheet can
 * calculate with them.
 */
const units: Partial<Readonly<Record<Column["kind"], string>>> = {
  share: "%",
  bytes: "bytes",
  used: "bytes",
  rate: "bytes/s",
};

/**
 * Rows as CSV (RFC 4180): names of objects, rounded figures, ISO times. The unit of a
 * figure is in the head of its column.
 * @param nameOf name of a mentioned object, and of the VM of a VBD; undefined: its id is written
 */
export function toCsv(
  columns: readonly Column[],
  names: readonly string[],
  rows: readonly ObjectRow[],
  nameOf: (id: string) => string | undefined = () => undefined,
): string {
  const head = columns.map(({ kind }, i) => {
    const unit = units[kind];
    return quote(unit === undefined ? names[i]! : `${names[i]!} (${unit})`);
  });
  const lines = rows.map((row) =>
    columns
      .map((column) => {
        const cell = column.value(row);
        const value =
          column.kind === "disk-vms"
            ? vbdsIn(cell)
                .map((vbd) => nameOf(vbd) ?? vbd)
                .join(", ")
            : plain(column, cell);
        const isMention = column.kind === "object" || column.kind === "about";
        return quote(isMention ? (nameOf(value) ?? value) : value);
      })
      .join(),
  );
  return [head.join(), ...lines, ""].join("\r\n");
}

/** Ids of the objects that rows mention, by type. */
export function mentioned(
  columns: readonly Column[],
  rows: readonly ObjectRow[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Map<string, Set<string>>();
  for (const column of columns) {
    if (column.kind !== "object" || column.of === undefined) continue;
    const some = ids.get(column.of) ?? new Set();
    ids.set(column.of, some);
    for (const row of rows) {
      const value = column.value(row);
      if (typeof value === "string" && value !== "") some.add(value);
    }
  }
  return ids;
}

/** Ids of the VBDs in columns with the VMs of disks. */
export function mentionedVbds(
  columns: readonly Column[],
  rows: readonly ObjectRow[],
): readonly string[] {
  return columns
    .filter(({ kind }) => kind === "disk-vms")
    .flatMap((column) => rows.flatMap((row) => vbdsIn(column.value(row))));
}

function vbdsIn(cell: ColumnValue): readonly string[] {
  return Array.isArray(cell) ? (cell as readonly string[]) : [];
}

function plain(column: Column, value: ColumnValue): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number")
    return column.kind === "time" || column.kind === "age"
      ? new Date(value * 1000).toISOString()
      : rounded(column, value);
  if (typeof value === "string" || typeof value === "boolean")
    return String(value);
  if ("length" in value) return value.join(" ");
  return value.used === undefined ? "" : rounded(column, value.used);
}

/** Shares in percent to a tenth, bytes and rates as integers. */
function rounded({ kind }: Column, value: number): string {
  if (kind === "share") return String(Math.round(value * 1000) / 10);
  return String(units[kind] === undefined ? value : Math.round(value));
}

/** Text that a spreadsheet would evaluate as a formula is escaped. */
function quote(text: string): string {
  const shown = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text));
  const safe = shown ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
