import type { Columns } from "./columns.js";
import type { SlicedTask } from "./sliced-task.js";

/**
 * Visits rows of a result in their order. Rows whose objects are removed meanwhile are left
 * out, also if another object has their row now.
 * @param step rows visited between two yields
 */
export function* visitRows(
  { log }: Columns,
  rows: Int32Array,
  step: number,
  visit: (row: number) => void,
): SlicedTask<void> {
  const { version } = log;
  const follower = { seen: log.closed };
  log.follow(follower);
  try {
    for (const [i, row] of rows.entries()) {
      if (!log.isRemoved(row, version)) visit(row);
      if (i % step === step - 1) yield;
    }
  } finally {
    log.unfollow(follower);
  }
}
