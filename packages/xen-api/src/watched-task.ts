import { XoError, type XapiError } from "@xo-server/model";
import type { Clock } from "./clock.js";
import { isFinal, taskError, type TaskState } from "./task-state.js";
import type { AsyncCallOptions } from "./xapi.js";

export interface TaskWish {
  readonly ref: string;
  /** For errors: what the task does. */
  readonly method: string;
  /** As in the data model. */
  readonly resultType: string;
  readonly options: AsyncCallOptions;
}

/** One who waits for a task. */
export class WatchedTask {
  readonly wish: TaskWish;
  /** The task's result as it stands in its record. */
  readonly result: Promise<string>;
  readonly #clock: Clock;
  #resolve!: (result: string) => void;
  #reject!: (error: Error) => void;
  #onSettled: () => void;
  #progress = -1;
  #grace: unknown;

  constructor(
    wish: TaskWish,
    clock: Clock,
    onSettled: (task: WatchedTask) => void,
  ) {
    this.wish = wish;
    this.#clock = clock;
    this.#onSettled = () => {
      onSettled(this);
    };
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isAborted(): boolean {
    return this.wish.options.signal?.aborted === true;
  }

  /** How it goes now; undefined: the task is gone. */
  tell(state: TaskState | undefined): void {
    const { ref, method, options } = this.wish;
    if (state === undefined) {
      this.fail(new XoError("TASK_LOST", { method, reason: "it is no more" }));
      return;
    }
    if (state.progress !== this.#progress) {
      this.#progress = state.progress;
      options.onProgress?.(state.progress);
    }
    if (!isFinal(state)) return;
    if (state.status === "success") {
      this.#settle();
      this.#resolve(state.result);
    } else if (state.status === "cancelled" && this.isAborted) {
      this.fail(new XoError("ABORTED", { what: method }));
    } else this.fail(taskError(state, ref, method));
  }

  fail(error: XoError | XapiError): void {
    this.#settle();
    this.#reject(error);
  }

  /** It was cancelled: gives up on it when it has not ended in this time. */
  giveUpIn(ms: number): void {
    this.#grace ??= this.#clock.setTimeout(() => {
      const what = `${this.wish.method} (it goes on at the pool)`;
      this.fail(new XoError("ABORTED", { what }));
    }, ms);
  }

  #settle(): void {
    if (this.#grace !== undefined) this.#clock.clearTimeout(this.#grace);
    this.#onSettled();
  }
}
