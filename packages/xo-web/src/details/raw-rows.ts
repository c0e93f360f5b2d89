import { isObject, type Json } from "@xo-server/kit";

/** A row of a record: a field, or a member of a map or list. */
interface RawRow {
  /** `other_config.auto_poweron` */
  readonly path: string;
  readonly name: string;
  /** 0: a field. */
  readonly depth: number;
  /** As JSON, strings without quotes; undefined: a map or list, its members follow. */
  readonly value?: string;
  /** Number of members of a map or list. */
  readonly members?: number;
}

/** The fields of a record by name; members follow their map or list. */
export function toRawRows(record: Readonly<Record<string, Json>>): RawRow[] {
  const rows: RawRow[] = [];
  const names = Object.keys(record).sort((a, b) => (a < b ? -1 : 1));
  for (const name of names)
    add(rows, { path: name, name, depth: 0 }, record[name]!);
  return rows;
}

/** Rows that contain the text, with their parents. */
export function searchRows(rows: readonly RawRow[], search: string): RawRow[] {
  const requested = search.trim().toLowerCase();
  if (requested === "") return [...rows];
  const found = new Set<string>();
  for (const { path, value } of rows)
    if (`${path} ${value ?? ""}`.toLowerCase().includes(requested))
      found.add(path);
  const isAbove = (path: string) =>
    [...found].some((below) => below.startsWith(`${path}.`));
  return rows.filter(
    ({ path, members }) =>
      found.has(path) || (members !== undefined && isAbove(path)),
  );
}

function add(rows: RawRow[], row: RawRow, value: Json): void {
  const members = membersOf(value);
  if (members === undefined || members.length === 0) {
    rows.push({ ...row, value: toText(value) });
    return;
  }
  rows.push({ ...row, members: members.length });
  for (const [name, member] of members) {
    const path = `${row.path}.${name}`;
    add(rows, { path, name, depth: row.depth + 1 }, member);
  }
}

function membersOf(value: Json): [string, Json][] | undefined {
  if (Array.isArray(value))
    return (value as readonly Json[]).map((member, index) => [
      String(index),
      member,
    ]);
  return isObject(value) ? Object.entries(value) : undefined;
}

function toText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
