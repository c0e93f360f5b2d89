import type { Fragment, Fragments } from "../../../objects/fragment.js";
import type { ListQuery } from "./list-query.js";
import { encodeMarkdown } from "./markdown.js";
import type { ObjectPage, ObjectPages } from "./object-pages.js";

export const listTypes: Readonly<Record<ListQuery["format"], string>> = {
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson",
  markdown: "text/markdown; charset=utf-8",
};

/** A part is sent when it has this many bytes, before the list is complete. */
const MIN_PART_BYTES = 32 * 1024;

/**
 * Encodes a list, part by part.
 * @param fragments buffers of the parts
 */
export function encodeList(
  pages: ObjectPages,
  { format, fields }: Pick<ListQuery, "format" | "fields">,
  fragments: Fragments,
): AsyncGenerator<Buffer, void, void> {
  if (format === "markdown") return encodeMarkdown(pages, fields);
  const write = fields === undefined ? writeHref : writeObject;
  return join(pages, { ...syntaxes[format], write, fragments });
}

type WriteRow = (fragment: Fragment, page: ObjectPage, row: number) => void;

const syntaxes = {
  json: { lead: "[", separator: ",", end: "]", endOfNone: "]" },
  ndjson: { lead: "", separator: "\n", end: "\n", endOfNone: "" },
} as const;

interface ListSyntax {
  readonly lead: string;
  readonly separator: string;
  readonly end: string;
  readonly endOfNone: string;
  readonly write: WriteRow;
  readonly fragments: Fragments;
}

async function* join(
  pages: ObjectPages,
  { lead, separator, end, endOfNone, write, fragments }: ListSyntax,
) {
  let part = fragments.begin();
  part.addText(lead);
  let isFirst = true;
  for await (const page of pages) {
    for (const row of page.rows.keys()) {
      if (!isFirst) part.addText(separator);
      isFirst = false;
      write(part, page, row);
      if (!part.isFull) continue;
      yield part.finish();
      part = fragments.begin();
    }
    if (part.length < MIN_PART_BYTES) continue;
    yield part.finish();
    part = fragments.begin();
  }
  part.addText(isFirst ? endOfNone : end);
  if (!part.isEmpty) yield part.finish();
}

function writeHref(part: Fragment, { hrefs }: ObjectPage, row: number): void {
  part.addText(JSON.stringify(hrefs[row]));
}

/** Length of `{}`, which needs no comma before the next member. */
const EMPTY_OBJECT_BYTES = 2;

/** Copies an encoded object and inserts its href, if it has one, before the last brace. */
function writeObject(
  part: Fragment,
  { hrefs, rows }: ObjectPage,
  row: number,
): void {
  const bytes = rows[row]!;
  const href = hrefs[row];
  if (href === undefined) {
    part.addBytes(bytes);
    return;
  }
  part.addBytes(bytes.subarray(0, -1));
  const comma = bytes.length === EMPTY_OBJECT_BYTES ? "" : ",";
  part.addText(`${comma}"href":${JSON.stringify(href)}}`);
}
