import { fromCursor, toCursor } from "./cursor.js";
import type { Page } from "./query.js";
import type { Projection } from "./projection.js";
import type { SortPath } from "./request.js";
import type { Result } from "./result.js";
import type { Work } from "./work.js";

/** Objects that are encoded between two yields. */
const STEP = 8;

export interface PagePlace {
  /** Infinity: all. */
  readonly limit: number;
  readonly after: string | undefined;
}

/** Reads a page of a result. Objects that go while it is read are left out. */
export function* readPage(
  result: Result,
  projection: Projection,
  place: PagePlace,
  revision: () => number,
): Work<Page> {
  yield* result.catchUp();
  const sort = result.question.sort!;
  const from = startOf(result, sort, place.after);
  const rows = result.rows.slice(from, from + place.limit);
  const about = {
    total: result.count,
    revision: revision(),
    ...nextOf(result, sort, from + rows.length),
  };
  return { ...(yield* readRows(result, rows, projection)), ...about };
}

function* readRows(
  { columns: { log, table } }: Result,
  rows: Int32Array,
  projection: Projection,
): Work<Pick<Page, "rows" | "ids">> {
  const { version } = log;
  const follower = { seen: log.closed };
  const objects: Buffer[] = [];
  const ids: string[] = [];
  log.follow(follower);
  try {
    for (const [i, row] of rows.entries()) {
      if (!log.isRemoved(row, version)) {
        objects.push(projection.encode(row));
        ids.push(table.id(row));
      }
      if (i % STEP === STEP - 1) yield;
    }
  } finally {
    log.unfollow(follower);
  }
  return { rows: objects, ids };
}

function startOf(
  { order, rows }: Result,
  sort: readonly SortPath[],
  after: string | undefined,
): number {
  if (after === undefined) return 0;
  return order.rowsUpTo(rows, fromCursor(after, sort));
}

function nextOf(
  { order, rows }: Result,
  sort: readonly SortPath[],
  end: number,
): Pick<Page, "next"> {
  if (end >= rows.length || end === 0) return {};
  return { next: toCursor(order.position(rows[end - 1]!), sort) };
}
