import type { TaskChange } from "./task-changes.js";

/** Tasks whose news wait for a slow reader at most. */
const MOST_WAITING = 10_000;

/**
 * What a reader of tasks has not taken yet: of each task only the newest, so
 * that a slow one costs no more than a fast one. Who lets too many wait is out.
 */
export class TaskMailbox {
  readonly #waiting = new Map<string, TaskChange>();
  #wake: (() => void) | undefined;
  #isClosed = false;

  put(change: TaskChange): void {
    if (this.#isClosed) return;
    const id = change.kind === "update" ? change.task.id : change.id;
    this.#waiting.delete(id);
    this.#waiting.set(id, change);
    if (this.#waiting.size > MOST_WAITING) this.close();
    this.#wake?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  /** What comes, until it is closed. */
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
