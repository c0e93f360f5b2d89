import { datamodel } from "@xo-server/model";
import { fieldType, type FieldType } from "../field-type.js";
import type { PoolData } from "../pool-state.js";
import { escapeXml } from "../rpc/xml-writer.js";
import type { XapiRecord, XapiValue } from "../xapi-value.js";

/** Version of the database's schema: of a dump with another nothing is restored. */
export const SCHEMA = { major: 5, minor: 909 } as const;

/** Not in the dump: messages are files of their own. */
const excluded = new Set(["message"]);

/** `VM.PV_args` is the column `PV__args`: structs of the datamodel. */
const STRUCT =
  /^(name|memory|VCPUs|PV|qos|io|actions|API_version|HVM)_(?!drivers_)/;

/**
 * The database as XAPI stores it on disk; of hidden columns only what is on the wire is known,
 * and the secrets of VTPMs.
 */
export function* dumpDatabase({ db, state }: PoolData): Generator<string> {
  const pairs = [
    ["schema_major_vsn", SCHEMA.major],
    ["schema_minor_vsn", SCHEMA.minor],
    ["generation_count", db.generation],
  ].map(([key, value]) => `<pair key="${key}" value="${value}"/>`);
  yield (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<database><manifest>${pairs.join("")}</manifest>`
  );
  const names = [...db.tables()]
    .map(({ className }) => className)
    .filter((name) => !excluded.has(name));
  for (const name of names.sort()) {
    if (db.count(name) === 0) {
      yield `<table name="${name}"/>`;
      continue;
    }
    yield `<table name="${name}">`;
    // Of a fleet, records are taken in here that were in the template.
    for (const [ref] of db.records(name)) {
      const { record, created, modified } = db.table(name).rows.get(ref)!;
      const secret = state.vtpmSecrets.get(ref);
      const hidden = secret === undefined ? {} : { contents: secret };
      yield `<row ref="${ref}" __ctime="${created}" __mtime="${modified}" _ref="${ref}" ${columns(name, { ...record, ...hidden })}/>`;
    }
    yield "</table>";
  }
  yield "</database>";
}

function columns(className: string, record: XapiRecord): string {
  return Object.entries(record)
    .map(([name, value]) => `${columnOf(className, name)}="${cell(value)}"`)
    .sort()
    .join(" ");
}

function columnOf(className: string, name: string): string {
  return className === "pool" || className === "sr_stat"
    ? name
    : name.replace(STRUCT, "$1__");
}

/** Sets are `('a'%.'b')`, maps `(('k'%.'v'))`, and a space is `%.`. */
function cell(value: XapiValue): string {
  if (Array.isArray(value))
    return `(${(value as readonly XapiValue[]).map((item) => quoted(item)).join("%.")})`;
  if (typeof value === "object")
    return `(${Object.entries(value)
      .map(([key, item]) => `(${quoted(key)}%.${quoted(item)})`)
      .join("%.")})`;
  return spaced(String(value));
}

function quoted(value: XapiValue): string {
  return typeof value === "object"
    ? cell(value)
    : `'${spaced(String(value).replace(/[\\']/g, "\\$&"))}'`;
}

function spaced(text: string): string {
  return escapeXml(
    text
      .replace(/%/g, "%%")
      .replace(/ /g, "%.")
      .replace(/\n/g, "%n")
      .replace(/\r/g, "%r")
      .replace(/\t/g, "%t"),
  );
}

/** Rows of a dump, by class and reference. */
export type DumpedTables = ReadonlyMap<string, ReadonlyMap<string, DumpedRow>>;

interface DumpedRow {
  readonly record: XapiRecord;
  /** Of VTPMs: the secret. */
  readonly contents?: string;
}

/** @throws Error for what is not a dump */
export function readDump(xml: string): {
  readonly major: number;
  readonly minor: number;
  readonly tables: DumpedTables;
} {
  const pair = (key: string): number => {
    const found = new RegExp(`<pair key="${key}" value="(\\d+)"`).exec(xml);
    if (found === null) throw new Error(`the manifest has no ${key}`);
    return Number(found[1]);
  };
  const [major, minor] = [pair("schema_major_vsn"), pair("schema_minor_vsn")];
  if (!xml.trimEnd().endsWith("</database>"))
    throw new Error("the dump is incomplete");
  const tables = new Map<string, Map<string, DumpedRow>>();
  let rows = new Map<string, DumpedRow>();
  let className = "";
  for (const [, table, row] of xml.matchAll(
    /<table name="(\w+)"|<row ([^>]*)\/>/g,
  )) {
    if (table !== undefined) {
      className = table;
      rows = new Map();
      if (Object.hasOwn(datamodel.classes, table)) tables.set(table, rows);
    } else if (tables.get(className) === rows) {
      const { ref, ...rest } = readRow(className, row!);
      rows.set(ref, rest);
    }
  }
  return { major, minor, tables };
}

function readRow(
  className: string,
  attributes: string,
): DumpedRow & { readonly ref: string } {
  const { fields } = datamodel.classes[className]!;
  const record: Record<string, XapiValue> = {};
  let ref = "";
  let contents: string | undefined;
  for (const [, column, cell] of attributes.matchAll(/([\w:]+)="([^"]*)"/g)) {
    const text = unspaced(cell!);
    const name = column!.replace(/__/g, "_");
    if (column === "ref") ref = text;
    else if (className === "VTPM" && column === "contents") contents = text;
    else if (Object.hasOwn(fields, name))
      record[name] = readCell(fieldType(fields[name]!.type), text);
  }
  return { ref, record, ...(contents === undefined ? {} : { contents }) };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
};
const ESCAPES: Readonly<Record<string, string>> = {
  "%%": "%",
  "%.": " ",
  "%n": "\n",
  "%r": "\r",
  "%t": "\t",
};

function unspaced(cell: string): string {
  return cell
    .replace(/&(?:lt|gt|quot|apos|amp);/g, (name) => ENTITIES[name]!)
    .replace(/%[%.nrt]/g, (escape) => ESCAPES[escape]!);
}

function readCell(type: FieldType, text: string): XapiValue {
  switch (type.kind) {
    case "int": {
      const value = BigInt(text);
      return Number.isSafeInteger(Number(value)) ? Number(value) : value;
    }
    case "float":
      return Number(text.replace(/^(-?)inf$/, "$1Infinity"));
    case "bool":
      return text === "true";
    case "set":
      return items(text).map((item) => readCell(type.of, item));
    case "map":
      return Object.fromEntries(
        items(text).map((pair) => {
          const [key = "", value = ""] = items(pair);
          return [key, readCell(type.value, value)] as const;
        }),
      );
    case "string":
    case "datetime":
    case "enum":
    case "ref":
    case "record":
    case "option":
    case "any":
      return text;
  }
}

/** The items of `('a' 'b')`, unquoted; inner lists `(('k' 'v'))` as they are. */
function items(list: string): readonly string[] {
  const found: string[] = [];
  for (let at = 1; at < list.length - 1;) {
    if (list[at] === " ") at++;
    else {
      const end = list[at] === "'" ? endOfText(list, at) : endOfList(list, at);
      const item = list.slice(at, end);
      found.push(
        item.startsWith("'")
          ? item.slice(1, -1).replace(/\\([\\'])/g, "$1")
          : item,
      );
      at = end;
    }
  }
  return found;
}

function endOfText(list: string, start: number): number {
  let at = start + 1;
  while (at < list.length && list[at] !== "'") at += list[at] === "\\" ? 2 : 1;
  return at + 1;
}

function endOfList(list: string, start: number): number {
  let at = start + 1;
  while (at < list.length && list[at] !== ")")
    if (list[at] === "'") at = endOfText(list, at);
    else if (list[at] === "(") at = endOfList(list, at);
    else at++;
  return at + 1;
}
