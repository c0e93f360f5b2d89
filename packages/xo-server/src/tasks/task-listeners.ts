import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { RunningTask } from "./running-task.js";
import type { TaskChange, TaskListener } from "./task-changes.js";

/** Interval of notifications about a task with more than FEW_PARTS parts, in ms. */
const NOTIFY_MS = 250;
const FEW_PARTS = 10;
/** Maximum number of listeners; each is notified of every change. */
const MAX_LISTENERS = 1_000;

interface TaskListenersOptions {
  readonly clock: WallClock;
  /** Whether the task of this id still runs here: notifications of others are not delayed. */
  readonly isRunning: (id: string) => boolean;
}

/** The listeners to changes of tasks. */
export class TaskListeners {
  readonly #options: TaskListenersOptions;
  readonly #listeners = new Set<TaskListener>();
  /** Timers of delayed notifications by task id. */
  readonly #timers = new Map<string, unknown>();

  constructor(options: TaskListenersOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#listeners.size === 0;
  }

  /** @throws XoError QUEUE_FULL */
  add(listener: TaskListener): void {
    if (this.#listeners.size >= MAX_LISTENERS)
      throw new XoError("QUEUE_FULL", {
        what: "the watch of tasks",
        size: MAX_LISTENERS,
      });
    this.#listeners.add(listener);
  }

  remove(listener: TaskListener): void {
    this.#listeners.delete(listener);
  }

  /** Tasks with many parts are sent at intervals, because each notification contains all parts. */
  notifySoon(task: RunningTask): void {
    const { node: work, id } = task;
    const isSmall = work.size <= FEW_PARTS;
    if (isSmall || work.status !== "pending") {
      this.notifyUpdate(task);
      return;
    }
    if (this.#timers.has(id) || this.isEmpty) return;
    const { clock, isRunning } = this.#options;
    const timer = clock.setTimeout(() => {
      this.#timers.delete(id);
      if (isRunning(id)) this.notifyUpdate(task);
    }, NOTIFY_MS);
    this.#timers.set(id, timer);
  }

  notifyUpdate(task: RunningTask): void {
    if (this.isEmpty) return;
    const { userId } = task.subject;
    this.notify({ kind: "update", userId, task: task.node.view() });
  }

  notify(change: TaskChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  stop(): void {
    for (const timer of this.#timers.values())
      this.#options.clock.clearTimeout(timer);
  }
}
