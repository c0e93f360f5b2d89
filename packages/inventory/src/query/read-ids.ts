import type { Result } from "./result.js";
import type { SlicedTask } from "./sliced-task.js";
import { visitRows } from "./visit-rows.js";

/** Ids read between two yields. */
const STEP = 128;

/** Reads the ids of a result's objects. */
export function* readIds(result: Result): SlicedTask<readonly string[]> {
  yield* result.catchUp();
  const { columns, members } = result;
  const ids: string[] = [];
  yield* visitRows(columns, members.toArray(), STEP, (row) => {
    ids.push(columns.table.id(row));
  });
  return ids;
}
