import type { ListQuery } from "./list-query.js";
import type { ObjectPages } from "./object-pages.js";

type Row = Readonly<Record<string, unknown>>;

/** Number of objects that are encoded at a time. */
const STEP = 32;

/**
 * Encodes a Markdown table whose columns are the keys of the first object, or one
 * href per line.
 */
export function encodeMarkdown(
  pages: ObjectPages,
  fields: ListQuery["fields"],
): AsyncGenerator<Buffer, void, void> {
  return orNoResults(
    fields === undefined ? encodeHrefs(pages) : encodeTable(pages, fields),
  );
}

async function* orNoResults(parts: AsyncGenerator<string, void, void>) {
  let isEmpty = true;
  for await (const part of parts) {
    isEmpty = false;
    yield Buffer.from(part);
  }
  if (isEmpty) yield Buffer.from("No results.");
}

async function* encodeHrefs(pages: ObjectPages) {
  for await (const { hrefs } of pages)
    if (hrefs.length > 0) yield hrefs.map((href) => `${href}\n`).join("");
}

async function* encodeTable(
  pages: ObjectPages,
  fields: readonly string[] | "*",
) {
  let keys: readonly string[] | undefined;
  for await (const rows of inSteps(pages)) {
    if (keys === undefined) {
      keys = keysOf(rows[0]!, fields);
      yield `${line(keys.map(escape))}${line(keys.map(() => "---"))}`;
    }
    const shown = keys;
    yield rows
      .map((row) => line(shown.map((key) => encodeCell(row[key]))))
      .join("");
  }
}

async function* inSteps(pages: ObjectPages) {
  for await (const { rows } of pages)
    for (let from = 0; from < rows.length; from += STEP)
      yield rows
        .slice(from, from + STEP)
        .map((row) => JSON.parse(row.toString()) as Row);
}

/** Requested fields, in the order of the request. */
function keysOf(row: Row, fields: readonly string[] | "*"): readonly string[] {
  return fields === "*"
    ? Object.keys(row)
    : fields.filter((field) => Object.hasOwn(row, field));
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |\n`;
}

function encodeCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  return escape(typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * Escapes a text so that it neither ends a cell nor is HTML, a link or an image:
 * any user of a pool can choose names.
 */
function escape(text: string): string {
  return text
    .replace(/[\\|]/g, "\\$&")
    .replace(/\]\(/g, "]\\(")
    .replace(/</g, "&lt;")
    .replace(/\r?\n|\r/g, " ");
}
