import type { ViewObject } from "@xo-server/inventory";
import type { TaskView } from "../../../tasks/task-view.js";
import { readObjects } from "../collections/collection-pages.js";
import type { ListQuery } from "../lists/list-query.js";
import type { ObjectPages } from "../lists/object-pages.js";
import { toHref } from "../routing/rest-path.js";

/** Path of a task in the REST API. */
export function toTaskHref({ id }: ViewObject): string {
  return toHref("tasks", String(id));
}

/** The requested tasks, page by page as they are consumed. */
export async function* readTasks(
  tasks: AsyncIterable<readonly TaskView[]>,
  query: ListQuery,
): ObjectPages {
  let remaining = query.limit;
  for await (const some of tasks) {
    const part = { ...query, limit: remaining };
    for await (const page of readObjects(some, toTaskHref, part)) {
      remaining -= page.rows.length;
      yield page;
    }
    if (remaining <= 0) return;
  }
}
