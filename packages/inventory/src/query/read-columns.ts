import type { Column } from "./column.js";
import { copyColumn, type ColumnCopy } from "./column-copy.js";
import {
  MembersDigest,
  toStateText,
  type ColumnsState,
} from "./columns-state.js";
import { JsonTexts } from "./json-texts.js";
import type { ColumnsAnswer } from "./query.js";
import type { Result } from "./result.js";
import type { ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";
import { visitRows } from "./visit-rows.js";

/** Rows copied, and ids read, between two yields. */
const STEP = 512;
const ID_STEP = 128;

interface ReadColumnsOptions {
  /** Paths by their text in the request. */
  readonly paths: ReadonlyMap<string, ValuePath>;
  readonly limit: number;
  /** State that the client has. */
  readonly known: ColumnsState | undefined;
  /** Id of the feed. */
  readonly feedId: string;
}

/**
 * Reads properties of a result's objects. Objects that are removed meanwhile
 * are left out.
 */
export function* readColumns(
  result: Result,
  options: ReadColumnsOptions,
  revision: () => number,
): SlicedTask<ColumnsAnswer> {
  const paths = [...options.paths.keys()];
  const acquired = yield* result.columns.acquire([...options.paths.values()]);
  const byPath = new Map(acquired.map((column, i) => [paths[i]!, column]));
  try {
    const { known } = options;
    const read = (from: ColumnsState | undefined) =>
      tryRead(result, byPath, { ...options, known: from }, revision);
    return (known && (yield* read(known))) ?? (yield* read(undefined))!;
  } finally {
    result.columns.release(acquired);
  }
}

/** Undefined when the set of objects is not the one of the known state. */
function* tryRead(
  result: Result,
  byPath: ReadonlyMap<string, Column>,
  { known, feedId, limit }: ReadColumnsOptions,
  revision: () => number,
): SlicedTask<ColumnsAnswer | undefined> {
  yield* result.catchUp();
  const rows = result.members.toArray().subarray(0, limit);
  const summary = { revision: revision(), total: result.count };
  const changedAt = new Map<string, number>();
  const copies = new Map<string, ColumnCopy>();
  try {
    for (const [path, column] of byPath) {
      changedAt.set(path, column.changedAt);
      if (known?.columns.get(path) !== column.changedAt)
        copies.set(path, copyColumn(column, rows.length));
    }
    const all = [...copies.values()];
    const ids: string[] | undefined = known === undefined ? [] : undefined;
    const members = yield* copyRows(result, rows, { copies: all, ids });
    if (known !== undefined && known.members !== members) return undefined;
    const state = toStateText({ feedId, members, columns: changedAt });
    return { ...summary, state, ...(yield* write(copies, ids)) };
  } finally {
    for (const copy of copies.values()) copy.close();
  }
}

interface CopyTargets {
  readonly copies: readonly ColumnCopy[];
  /** Filled with the ids, if given. */
  readonly ids: string[] | undefined;
}

/** @returns the digest of the objects that still exist */
function* copyRows(
  { columns }: Result,
  rows: Int32Array,
  { copies, ids }: CopyTargets,
): SlicedTask<string> {
  const members = new MembersDigest();
  const step = ids === undefined ? STEP : ID_STEP;
  yield* visitRows(columns, rows, step, (row) => {
    members.add(columns.objectSerial(row));
    for (const copy of copies) copy.add(row);
    ids?.push(columns.table.id(row));
  });
  return members.text;
}

function* write(
  copies: ReadonlyMap<string, ColumnCopy>,
  ids: readonly string[] | undefined,
): SlicedTask<Pick<ColumnsAnswer, "ids" | "columns">> {
  const texts = new JsonTexts();
  const columns = new Map<string, Buffer>();
  for (const [path, copy] of copies)
    columns.set(path, yield* texts.text((push) => copy.write(push)));
  if (ids === undefined) return { columns };
  return { columns, ids: yield* texts.text((push) => writeIds(ids, push)) };
}

function* writeIds(
  ids: readonly string[],
  push: (json: string) => void,
): SlicedTask<void> {
  push("[");
  for (let from = 0; from < ids.length; from += STEP) {
    const some = JSON.stringify(ids.slice(from, from + STEP)).slice(1, -1);
    push(from > 0 ? `,${some}` : some);
    yield;
  }
  push("]");
}
