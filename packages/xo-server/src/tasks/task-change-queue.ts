import type { TaskChange } from "./task-changes.js";

/** Maximum number of changed tasks that wait for a slow reader. */
const MAX_WAITING = 10_000;

/**
 * Changes that a reader has not read yet: of each task only the newest, so
 * that slow readers cost no more than fast ones. A reader with too many is
 * disconnected.
 */
export class TaskChangeQueue {
  readonly #waiting = new Map<string, TaskChange>();
  #wake: (() => void) | undefined;
  #isClosed = false;

  put(change: TaskChange): void {
    if (this.#isClosed) return;
    const id = change.kind === "update" ? change.task.id : change.id;
    this.#waiting.delete(id);
    this.#waiting.set(id, change);
    if (this.#waiting.size > MAX_WAITING) this.close();
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  /** Yields messages until the mailbox is closed. */
  async *take(): AsyncGenerator<TaskChange, void, void> {
    while (!this.#isClosed) {
      const [next] = this.#waiting;
      if (next === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        this.#wake = undefined;
        continue;
      }
      this.#waiting.delete(next[0]);
      yield next[1];
    }
  }
}
