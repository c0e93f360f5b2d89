import type { Origin } from "./origin.js";
import type { Chunk } from "./rpc/answer.js";
import { recordToJson } from "./rpc/json-writer.js";
import { escapeXml, recordToXml } from "./rpc/xml-writer.js";
import type { Row } from "./row.js";
import type { Table } from "./table.js";
import { XapiFailure } from "./xapi-failure.js";

type Format = "json" | "xml";

interface Listing {
  readonly version: number;
  readonly bytes: Buffer;
}

/**
 * The answers to get_all_records as bytes, kept until the table changes.
 *
 *   listing   {"OpaqueRef:1":{...},"OpaqueRef:2":{...}}
 *                            ^row.json ^row.json         views, not copies
 *
 * A changed table is assembled again from the bytes of the rows that did not
 * change and the text of those that did.
 */
export class Listings {
  readonly #listings: Readonly<Record<Format, Map<Table, Listing>>> = {
    json: new Map(),
    xml: new Map(),
  };
  readonly #escaped = new Map<Table, Listing>();
  readonly #origin: Origin | undefined;

  /** @param origin of the tables' database, which then makes the listings itself */
  constructor(origin?: Origin) {
    this.#origin = origin;
  }

  /** A map of reference to record as JSON. */
  json(table: Table): Chunk {
    return this.#origin?.listing(table) ?? this.#listing(table, "json");
  }

  /** The same as XML-RPC, in its `<value>`. @throws XapiFailure NOT_IMPLEMENTED for tables with an origin */
  xml(table: Table): Buffer {
    if (this.#origin !== undefined)
      throw new XapiFailure("NOT_IMPLEMENTED", ["listings in XML"]);
    return this.#listing(table, "xml");
  }

  /** The JSON escaped for an XML-RPC string: hosts of XenServer 6 and 7 at /json. */
  escapedJson(table: Table): Buffer {
    const known = this.#escaped.get(table);
    if (known?.version === table.version) return known.bytes;
    const json = this.#listing(table, "json").toString("utf8");
    const bytes = Buffer.from(escapeXml(json));
    this.#escaped.set(table, { version: table.version, bytes });
    return bytes;
  }

  #listing(table: Table, format: Format): Buffer {
    const known = this.#listings[format].get(table);
    if (known?.version === table.version) return known.bytes;
    const bytes = build(table, format);
    this.#listings[format].set(table, { version: table.version, bytes });
    return bytes;
  }
}

/** A row's record as JSON. */
export function rowJson(row: Row): Buffer {
  row.json ??= Buffer.from(recordToJson(row.className, row.record));
  if (row.isLean) row.compact();
  return row.json;
}

/** A row's record as XML-RPC, in its `<value>`. */
export function rowXml(row: Row): Buffer {
  return (row.xml ??= Buffer.from(recordToXml(row.className, row.record)));
}

interface ListingEncoding {
  readonly start: string;
  readonly end: string;
  before(ref: string, first: boolean): string;
  readonly after: string;
  record(className: string, record: Row["record"]): string;
}

const encodings: Readonly<Record<Format, ListingEncoding>> = {
  json: {
    start: "{",
    end: "}",
    before: (ref, first) => `${first ? "" : ","}"${ref}":`,
    after: "",
    record: recordToJson,
  },
  xml: {
    start: "<value><struct>",
    end: "</struct></value>",
    before: (ref) => `<member><name>${ref}</name>`,
    after: "</member>",
    record: recordToXml,
  },
};

function build(table: Table, format: Format): Buffer {
  const encoding = encodings[format];
  const pieces: (string | Buffer)[] = [encoding.start];
  const sizes: number[] = [encoding.start.length];
  let total = encoding.start.length + encoding.end.length;
  const push = (piece: string | Buffer): void => {
    const size =
      typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
    pieces.push(piece);
    sizes.push(size);
    total += size;
  };
  let first = true;
  for (const row of table.rows.values()) {
    push(encoding.before(row.ref, first));
    push(row[format] ?? encoding.record(table.className, row.record));
    if (encoding.after !== "") push(encoding.after);
    first = false;
  }
  pieces.push(encoding.end);
  sizes.push(encoding.end.length);
  return fill(table, format, { pieces, sizes, total });
}

/** Copies the pieces into one buffer and makes the rows' bytes views of it. */
function fill(
  table: Table,
  format: Format,
  {
    pieces,
    sizes,
    total,
  }: { pieces: (string | Buffer)[]; sizes: number[]; total: number },
): Buffer {
  const bytes = Buffer.allocUnsafeSlow(total);
  const starts: number[] = [];
  let at = 0;
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i]!;
    starts.push(at);
    if (typeof piece === "string") bytes.write(piece, at);
    else piece.copy(bytes, at);
    at += sizes[i]!;
  }
  const step = encodings[format].after === "" ? 2 : 3;
  let piece = 2;
  for (const row of table.rows.values()) {
    const start = starts[piece]!;
    row[format] = bytes.subarray(start, start + sizes[piece]!);
    piece += step;
  }
  return bytes;
}
