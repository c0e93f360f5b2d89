import { rowJson } from "../listings.js";
import type { LazyBytes } from "../rpc/answer.js";
import type { Table } from "../table.js";
import type { PoolTransform } from "./pool-transform.js";
import type { TemplateClass } from "./template-class.js";

/**
 * Approximate size of a chunk of a listing: the memory of a connection at a
 * time.
 */
const PIECE_BYTES = 1 << 18;

/** Entries of the template, or one entry of the database. */
type Part =
  | { readonly first: number; readonly last: number }
  | { readonly ref: string; readonly json: Buffer };

/**
 * The answer to get_all_records of a derived pool at one moment: long runs of
 * the template, between them what the database has taken in or made.
 */
export class DerivedListing implements LazyBytes {
  readonly length: number;
  readonly #source: TemplateClass;
  readonly #transform: PoolTransform;
  readonly #parts: readonly Part[];

  constructor(source: TemplateClass, transform: PoolTransform, table: Table) {
    this.#source = source;
    this.#transform = transform;
    this.#parts = partsOf(source, transform, table);
    this.length = this.#parts.reduce(
      (sum, part) => sum + this.#lengthOf(part),
      "{}".length + Math.max(0, this.#parts.length - 1),
    );
  }

  *pieces(): Generator<Buffer> {
    yield Buffer.from("{");
    let separator = "";
    for (const part of this.#parts) {
      if ("json" in part) {
        yield Buffer.from(`${separator}"${part.ref}":`);
        yield part.json;
      } else {
        if (separator !== "") yield Buffer.from(separator);
        yield* this.#source.pieces(part.first, part.last, {
          transform: this.#transform,
          size: PIECE_BYTES,
        });
      }
      separator = ",";
    }
    yield Buffer.from("}");
  }

  #lengthOf(part: Part): number {
    return "json" in part
      ? part.ref.length + '"":'.length + part.json.length
      : this.#source.length(part.first, part.last);
  }
}

function partsOf(
  source: TemplateClass,
  transform: PoolTransform,
  table: Table,
): Part[] {
  const own = [...table.adopted]
    .map((ref) => ({ ref, index: source.indexOf(transform.id(ref)) }))
    .sort((a, b) => a.index - b.index);
  const parts: Part[] = [];
  let first = 0;
  for (const { ref, index } of own) {
    if (index > first) parts.push({ first, last: index });
    const row = table.rows.get(ref);
    if (row !== undefined) parts.push({ ref, json: rowJson(row) });
    first = index + 1;
  }
  if (first < source.count) parts.push({ first, last: source.count });
  for (const [ref, row] of table.rows)
    if (!table.adopted.has(ref)) parts.push({ ref, json: rowJson(row) });
  return parts;
}
