import type { CollectionQuery } from "./collection-query.js";
import { encodeMarkdown } from "./markdown.js";
import type { ObjectPage, ObjectPages } from "./object-pages.js";

export const listTypes: Readonly<Record<CollectionQuery["format"], string>> = {
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson",
  markdown: "text/markdown; charset=utf-8",
};

/** A list as the bytes of an answer, page by page. */
export function encodeList(
  pages: ObjectPages,
  { format, fields }: Pick<CollectionQuery, "format" | "fields">,
): AsyncGenerator<Buffer, void, void> {
  if (format === "markdown") return encodeMarkdown(pages, fields);
  const encode = fields === undefined ? encodeHrefs : encodeObjects;
  return format === "json"
    ? encodeArray(pages, encode)
    : encodeLines(pages, encode);
}

type EncodePage = (page: ObjectPage, separator: string) => Buffer;

async function* encodeArray(pages: ObjectPages, encode: EncodePage) {
  let lead = "[";
  for await (const page of pages) {
    if (page.rows.length === 0) continue;
    yield Buffer.concat([Buffer.from(lead), encode(page, ",")]);
    lead = ",";
  }
  yield Buffer.from(lead === "[" ? "[]" : "]");
}

async function* encodeLines(pages: ObjectPages, encode: EncodePage) {
  for await (const page of pages) {
    if (page.rows.length === 0) continue;
    yield Buffer.concat([encode(page, "\n"), Buffer.from("\n")]);
  }
}

function encodeHrefs({ hrefs }: ObjectPage, separator: string): Buffer {
  return Buffer.from(hrefs.map((href) => JSON.stringify(href)).join(separator));
}

/** `{}` has nothing that a comma would follow. */
const EMPTY_OBJECT = 2;

/** Each object as the bytes that it is, with its href before the last brace. */
function encodeObjects({ hrefs, rows }: ObjectPage, separator: string): Buffer {
  const tails = rows.map((row, i) => {
    const comma = row.length === EMPTY_OBJECT ? "" : ",";
    const end = i === rows.length - 1 ? "" : separator;
    // Hrefs are percent-encoded: ASCII.
    return `${comma}"href":${JSON.stringify(hrefs[i])}}${end}`;
  });
  const size = rows.reduce(
    (sum, row, i) => sum + row.length - 1 + tails[i]!.length,
    0,
  );
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const [i, row] of rows.entries()) {
    at += row.copy(bytes, at, 0, row.length - 1);
    at += bytes.write(tails[i]!, at, "latin1");
  }
  return bytes;
}
