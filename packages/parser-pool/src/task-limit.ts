import type { TaskRunRecord } from "./decode-task.js";

/** Calls back when a thread has run a task for too long; time in the queue does not count. */
export class TaskLimit {
  /** The thread that runs the task writes to it. */
  readonly run: TaskRunRecord = new Float64Array(new SharedArrayBuffer(16));
  readonly #timeoutMs: number;
  readonly #onExceeded: (threadId: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #exceeded: string | undefined;

  constructor(timeoutMs: number, onExceeded: (threadId: number) => void) {
    this.#timeoutMs = timeoutMs;
    this.#onExceeded = onExceeded;
    this.#schedule(timeoutMs);
  }

  /** Why the thread was ended; undefined: the task kept the limit. */
  get exceeded(): string | undefined {
    return this.#exceeded;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#check();
    }, ms);
    this.#timer.unref();
  }

  #check(): void {
    const [threadId = 0, startedAt = 0] = this.run;
    const now = performance.timeOrigin + performance.now();
    const left = this.#timeoutMs - (threadId === 0 ? 0 : now - startedAt);
    if (left > 0) {
      this.#schedule(left);
      return;
    }
    this.#exceeded = `the worker did not answer within ${this.#timeoutMs} ms`;
    this.#onExceeded(threadId);
  }
}
