import type { Result } from "./result.js";
import type { SlicedTask } from "./sliced-task.js";

/** Ids read between two yields. */
const STEP = 128;

/** Reads the ids of a result's objects. Objects that are removed meanwhile are left out. */
export function* readIds(result: Result): SlicedTask<readonly string[]> {
  yield* result.catchUp();
  const { log, table } = result.columns;
  const { version } = log;
  const follower = { seen: log.closed };
  const ids: string[] = [];
  log.follow(follower);
  try {
    for (const [i, row] of result.members.toArray().entries()) {
      if (!log.isRemoved(row, version)) ids.push(table.id(row));
      if (i % STEP === STEP - 1) yield;
    }
  } finally {
    log.unfollow(follower);
  }
  return ids;
}
