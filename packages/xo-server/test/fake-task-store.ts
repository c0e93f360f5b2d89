import type { Task, TaskPageOptions } from "@xo-server/store";
import type { TaskStore } from "../src/tasks/task-store.js";

/** A store of tasks in memory. `isGone`: it refuses. */
export class FakeTaskStore implements TaskStore {
  readonly rows = new Map<string, Task>();
  readonly asked = new Set<string>();
  readonly puts: Task[] = [];
  isGone = false;

  async put(task: Task): Promise<void> {
    if (this.isGone) throw new Error("gone");
    this.puts.push(task);
    this.rows.set(task.id, task);
  }

  async get(id: string): Promise<Task | undefined> {
    return this.rows.get(id);
  }

  async list(options: TaskPageOptions = {}) {
    const { userId, objectId, status, limit = 100, cursor = "0" } = options;
    const { since = 0, until = Infinity } = options;
    const fitting = [...this.rows.values()]
      .filter(
        (task) =>
          (userId ?? task.userId) === task.userId &&
          (objectId ?? task.objectId) === task.objectId &&
          (status ?? task.status) === task.status &&
          task.startedAt >= since &&
          task.startedAt < until,
      )
      .toReversed();
    const end = Number(cursor) + limit;
    return {
      tasks: fitting.slice(Number(cursor), end),
      ...(end < fitting.length ? { cursor: String(end) } : {}),
    };
  }

  async delete(id: string): Promise<void> {
    this.rows.delete(id);
  }

  async deleteEnded(userId?: string) {
    const gone = [...this.rows.values()].filter(
      (task) =>
        task.status !== "pending" && (userId ?? task.userId) === task.userId,
    );
    for (const { id } of gone) this.rows.delete(id);
    return gone;
  }

  async listOfOtherServers(owner: string, since: number): Promise<Task[]> {
    return [...this.rows.values()].filter(
      (task) => task.owner !== owner && task.updatedAt >= since,
    );
  }

  async whichOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(ids.filter((id) => this.rows.has(id)));
  }

  async askToAbort(id: string): Promise<boolean> {
    if (this.rows.get(id)?.status !== "pending") return false;
    this.asked.add(id);
    return true;
  }

  async listPending(owner: string, after = ""): Promise<Task[]> {
    return [...this.rows.values()].filter(
      (task) =>
        task.owner === owner && task.status === "pending" && task.id > after,
    );
  }

  async listCancelRequested(owner: string): Promise<string[]> {
    return [...this.asked].filter((id) => {
      const task = this.rows.get(id);
      return task?.owner === owner && task.status === "pending";
    });
  }
}
