import type { TableMetadata } from "kysely";
import type { WriteUnit } from "../commit/write-unit.js";
import type { CachedTables } from "../cache/cached-tables.js";
import type { RepositoryContext } from "../repositories/repository-context.js";
import {
  isUsableAdmin,
  type UserChangeOptions,
} from "../repositories/users.js";
import type { UserRow } from "../schema/tables.js";
import { FORMAT, VERSION } from "./export-configuration.js";
import { listCurrentTables } from "../engines/current-tables.js";
import { fromPortable, invalid, type PortableRow } from "./portable-rows.js";

/** Lines per turn of the event loop; about 10 us per line. */
const LINES_A_SLICE = 20;
/** Rows per statement: SQLite accepts 32,766 parameters, a table has at most a dozen columns. */
const ROWS_A_STATEMENT = 100;

type RowsByTable = ReadonlyMap<string, readonly PortableRow[]>;

/**
 * Replaces the configuration by the output of `exportRows`, in one transaction.
 * @throws XoError IMPORT_INVALID, STORE_UNAVAILABLE
 */
export async function importRows(
  context: RepositoryContext,
  plain: readonly Buffer[],
  { allowNoAdmin = false }: UserChangeOptions = {},
): Promise<void> {
  const rows = await readRows(context, splitLines(plain));
  const users = rows.get("users") as readonly unknown[] as readonly UserRow[];
  if (!allowNoAdmin && !users.some(isUsableAdmin))
    throw invalid("it has no user with the permission admin who can sign in");
  await context.committer.run((unit) => replaceAll(context, unit, rows));
}

async function readRows(
  { engine, availability, tables, vault }: RepositoryContext,
  lines: Iterator<string, undefined>,
): Promise<RowsByTable> {
  checkHead(lines.next().value ?? "");
  const metadata = await availability.run(() =>
    listCurrentTables(engine.reader, engine),
  );
  const known = new Map<string, TableMetadata>();
  const rows = new Map<string, PortableRow[]>();
  for (const { name } of Object.values(tables)) {
    known.set(
      name,
      metadata.find((table) => table.name === name)!,
    );
    rows.set(name, []);
  }
  for (let count = 1; ; count++) {
    const { value: line, done } = lines.next();
    if (done === true) return rows;
    const [name, row] = parseLine(line);
    const table = known.get(name);
    if (table === undefined) throw invalid(`no table ${name.slice(0, 64)}`);
    rows.get(name)!.push(fromPortable(table, row, vault));
    if (count % LINES_A_SLICE === 0) await new Promise(setImmediate);
  }
}

async function replaceAll(
  { tables }: RepositoryContext,
  unit: WriteUnit,
  rows: RowsByTable,
): Promise<void> {
  const all = Object.values(tables);
  for (const table of all.toReversed()) {
    await unit.sql.deleteFrom(table.name).execute();
    unit.markReplaced(table);
  }
  for (const { name } of all) {
    const tableRows = rows.get(name)!;
    for (let at = 0; at < tableRows.length; at += ROWS_A_STATEMENT)
      await insert(unit, name, tableRows.slice(at, at + ROWS_A_STATEMENT));
  }
}

async function insert(
  unit: WriteUnit,
  name: CachedTables[keyof CachedTables]["name"],
  rows: readonly PortableRow[],
): Promise<void> {
  try {
    await unit.sql.insertInto(name).values(rows).execute();
  } catch (error) {
    const translated = unit.toStoreError(error, "row", "");
    throw translated === error
      ? error
      : invalid(`rows of ${name} contradict others`);
  }
}

/** Splits chunks of text into lines. */
function* splitLines(plain: readonly Buffer[]): Generator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for (const piece of plain) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  if (rest !== "") yield rest;
  return undefined;
}

function checkHead(line: string): void {
  const head = parse(line) as { format?: unknown; version?: unknown } | null;
  if (head?.format !== FORMAT) throw invalid("not an export of xo-server");
  if (head.version !== VERSION)
    throw invalid(`unsupported version ${String(head.version)}`);
}

function parseLine(line: string): [string, unknown] {
  const value = parse(line);
  if (!Array.isArray(value) || typeof value[0] !== "string")
    throw invalid("a line is not a row");
  return [value[0], value[1]];
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalid("a line is not JSON");
  }
}
