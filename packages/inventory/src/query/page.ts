import { fromCursor, toCursor } from "./cursor.js";
import type { Page } from "./query.js";
import type { Projection } from "./projection.js";
import type { SortPath } from "./request.js";
import type { Result } from "./result.js";
import type { SlicedTask } from "./sliced-task.js";
import { visitRows } from "./visit-rows.js";

interface PageRange {
  /** Maximum number of objects; Infinity: all. */
  readonly limit: number;
  /** Cursor of the previous page. */
  readonly after: string | undefined;
}

/** Reads a page of a result. Objects that are removed meanwhile are left out. */
export function* readPage(
  result: Result,
  projection: Projection,
  range: PageRange,
  revision: () => number,
): SlicedTask<Page> {
  yield* result.catchUp();
  const sort = result.query.sort!;
  const from = startIndex(result, sort, range.after);
  const rows = result.rows.slice(from, from + range.limit);
  const summary = {
    total: result.count,
    revision: revision(),
    ...nextCursor(result, sort, from + rows.length),
  };
  return { ...(yield* readRows(result, rows, projection)), ...summary };
}

function* readRows(
  { columns }: Result,
  rows: Int32Array,
  projection: Projection,
): SlicedTask<Pick<Page, "rows" | "ids">> {
  const objects: Buffer[] = [];
  const ids: string[] = [];
  // A host with many VMs takes a thousand times as long as a disk.
  yield* visitRows(columns, rows, 1, (row) => {
    objects.push(projection.encode(row));
    ids.push(columns.table.id(row));
  });
  return { rows: objects, ids };
}

function startIndex(
  { order, rows }: Result,
  sort: readonly SortPath[],
  after: string | undefined,
): number {
  if (after === undefined) return 0;
  return order.rowsUpTo(rows, fromCursor(after, sort));
}

function nextCursor(
  { order, rows }: Result,
  sort: readonly SortPath[],
  end: number,
): Pick<Page, "next"> {
  if (end >= rows.length || end === 0) return {};
  return { next: toCursor(order.position(rows[end - 1]!), sort) };
}
