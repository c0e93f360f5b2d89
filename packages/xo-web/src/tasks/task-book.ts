import { isObject, type Json } from "@xo-server/kit";
import { toTaskItem, type TaskItem } from "./task.js";

/** More are not kept: the oldest go. */
const MOST = 500;

/** Our tasks, the newest first, as notifications change them. */
export class TaskBook {
  readonly #byId = new Map<string, TaskItem>();

  get tasks(): readonly TaskItem[] {
    return [...this.#byId.values()].sort(
      (a, b) => b.start - a.start || (a.id < b.id ? 1 : -1),
    );
  }

  /** What `task.list` answers: all that there are. @returns those that have ended since they were last heard of */
  reset(list: Json): readonly TaskItem[] {
    const before = new Map(this.#byId);
    this.#byId.clear();
    const items = Array.isArray(list) ? (list as readonly Json[]) : [];
    const ended: TaskItem[] = [];
    for (const told of items) {
      const task = this.#put(told);
      if (task && before.get(task.id)?.status === "pending" && hasEnded(task))
        ended.push(task);
    }
    return ended;
  }

  /** A notification `task`. @returns those that have ended with it */
  take(news: Json): readonly TaskItem[] {
    if (!isObject(news)) return [];
    const { update, remove } = news;
    const ended: TaskItem[] = [];
    const before = new Map(this.#byId);
    for (const told of Array.isArray(update)
      ? (update as readonly Json[])
      : []) {
      const task = this.#put(told);
      // What has begun and ended between two notifications has ended just now.
      if (task && before.get(task.id)?.status !== task.status && hasEnded(task))
        ended.push(task);
    }
    for (const id of Array.isArray(remove) ? remove : [])
      this.#byId.delete(String(id));
    this.#forgetOld();
    return ended;
  }

  #put(told: Json): TaskItem | undefined {
    const task = toTaskItem(told);
    if (task !== undefined) this.#byId.set(task.id, task);
    return task;
  }

  #forgetOld(): void {
    if (this.#byId.size <= MOST) return;
    for (const { id } of this.tasks.slice(MOST)) this.#byId.delete(id);
  }
}

function hasEnded({ status }: TaskItem): boolean {
  return status !== "pending";
}
