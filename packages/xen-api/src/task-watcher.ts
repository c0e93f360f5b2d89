import { XoError, type XapiError } from "@xo-server/model";
import type { Clock } from "./clock.js";
import { isFinal, taskError, type TaskState } from "./task-state.js";
import type { AsyncCallOptions } from "./xapi.js";

export interface WatchRequest {
  readonly ref: string;
  /** For errors: what the task does. */
  readonly method: string;
  /** As in the data model. */
  readonly resultType: string;
  readonly options: AsyncCallOptions;
}

/** One who waits for a task. */
export class TaskWatcher {
  readonly request: WatchRequest;
  /** The task's result as it stands in its record. */
  readonly result: Promise<string>;
  readonly #clock: Clock;
  #resolve!: (result: string) => void;
  #reject!: (error: Error) => void;
  #onSettled: () => void;
  #progress = -1;
  #graceTimer: unknown;

  constructor(
    wish: WatchRequest,
    clock: Clock,
    onSettled: (task: TaskWatcher) => void,
  ) {
    this.request = wish;
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
    return this.request.options.signal?.aborted === true;
  }

  /** How it goes now; undefined: the task is gone. */
  update(state: TaskState | undefined): void {
    const { ref, method, options } = this.request;
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
  failAfter(ms: number): void {
    this.#graceTimer ??= this.#clock.setTimeout(() => {
      const what = `${this.request.method} (it goes on at the pool)`;
      this.fail(new XoError("ABORTED", { what }));
    }, ms);
  }

  #settle(): void {
    if (this.#graceTimer !== undefined)
      this.#clock.clearTimeout(this.#graceTimer);
    this.#onSettled();
  }
}
