import { isObject, type Json } from "@xo-server/kit";
import { toTaskItem, type TaskItem } from "./task.js";

/** Above this number the oldest are evicted. */
const MAX_TASKS = 500;

/** The tasks of the server, the newest first, updated by notifications. */
export class TaskBook {
  readonly #byId = new Map<string, TaskItem>();

  get tasks(): readonly TaskItem[] {
    return [...this.#byId.values()].sort(
      (a, b) => b.start - a.start || (a.id < b.id ? 1 : -1),
    );
  }

  /** Replaces all tasks by the answer of `task.list`. @returns tasks that have ended since the last update */
  reset(list: Json): readonly TaskItem[] {
    const before = new Map(this.#byId);
    this.#byId.clear();
    const items = Array.isArray(list) ? (list as readonly Json[]) : [];
    const ended: TaskItem[] = [];
    for (const item of items) {
      const task = this.#put(item);
      if (task && before.get(task.id)?.status === "pending" && hasEnded(task))
        ended.push(task);
    }
    return ended;
  }

  /** Applies a notification `task`. @returns tasks that it ended */
  take(params: Json): readonly TaskItem[] {
    if (!isObject(params)) return [];
    const { update, remove } = params;
    const ended: TaskItem[] = [];
    const before = new Map(this.#byId);
    for (const item of Array.isArray(update)
      ? (update as readonly Json[])
      : []) {
      const task = this.#put(item);
      // A task that started and ended between two notifications has just ended.
      if (task && before.get(task.id)?.status !== task.status && hasEnded(task))
        ended.push(task);
    }
    for (const id of Array.isArray(remove) ? remove : [])
      this.#byId.delete(String(id));
    this.#evictOld();
    return ended;
  }

  #put(json: Json): TaskItem | undefined {
    const task = toTaskItem(json);
    if (task !== undefined) this.#byId.set(task.id, task);
    return task;
  }

  #evictOld(): void {
    if (this.#byId.size <= MAX_TASKS) return;
    for (const { id } of this.tasks.slice(MAX_TASKS)) this.#byId.delete(id);
  }
}

function hasEnded({ status }: TaskItem): boolean {
  return status !== "pending";
}
