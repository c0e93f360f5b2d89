import type { TaskContext } from "../../tasks/task-context.js";

/** Progress of several disks, by bytes, with rate and remaining time. */
export class RestoreProgress {
  readonly #task: Pick<TaskContext, "progress">;
  readonly #now: () => number;
  readonly #total: number;
  readonly #startedAt: number;
  readonly #done = new Map<string, number>();

  /** @param total bytes of all disks; @param now milliseconds */
  constructor(
    task: Pick<TaskContext, "progress">,
    total: number,
    now: () => number,
  ) {
    this.#task = task;
    this.#total = Math.max(1, total);
    this.#now = now;
    this.#startedAt = now();
  }

  get done(): number {
    const sum = [...this.#done.values()].reduce((a, b) => a + b, 0);
    return Math.round(sum);
  }

  /** Bytes per second since the start. */
  get rate(): number {
    const ms = this.#now() - this.#startedAt;
    return ms <= 0 ? 0 : Math.round((this.done * 1000) / ms);
  }

  /** @param fraction of this disk, 0 to 1; @param size of it in bytes */
  report(disk: string, fraction: number, size: number): void {
    this.#done.set(disk, fraction * size);
    // The steps after the disks are short, but the restore must not seem complete before them.
    this.#task.progress(Math.min(0.99, this.done / this.#total));
  }
}
