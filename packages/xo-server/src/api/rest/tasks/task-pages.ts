import type { ViewObject } from "@xo-server/inventory";
import type { TaskView } from "../../../tasks/task-view.js";
import { readObjects } from "../collections/collection-pages.js";
import type { ListQuery } from "../lists/list-query.js";
import type { ObjectPages } from "../lists/object-pages.js";
import { toHref } from "../routing/rest-path.js";

export function toTaskHref({ id }: ViewObject): string {
  return toHref("tasks", String(id));
}

/** Those of the tasks that a reader asks for, page by page as they are taken. */
export async function* readTasks(
  tasks: AsyncIterable<readonly TaskView[]>,
  query: ListQuery,
): ObjectPages {
  let left = query.limit;
  for await (const some of tasks) {
    const part = { ...query, limit: left };
    for await (const page of readObjects(some, toTaskHref, part)) {
      left -= page.rows.length;
      yield page;
    }
    if (left <= 0) return;
  }
}
