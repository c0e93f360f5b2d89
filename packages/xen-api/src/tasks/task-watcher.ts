import type { MonotonicClock } from "@xo-server/kit";
import { XoError, type XapiError } from "@xo-server/model";
import { isFinal, taskError, type TaskState } from "./task-state.js";
import type { AsyncCallOptions } from "../xapi.js";

export interface WatchRequest {
  readonly ref: string;
  /** Method of the task, for errors. */
  readonly method: string;
  /** Result type as in the data model. */
  readonly resultType: string;
  readonly options: AsyncCallOptions;
}

/** One caller waiting for a task. */
export class TaskWatcher {
  readonly request: WatchRequest;
  /** The `result` field of the task record, not decoded. */
  readonly result: Promise<string>;
  readonly #clock: MonotonicClock;
  #resolve!: (result: string) => void;
  #reject!: (error: Error) => void;
  #onSettled: () => void;
  #progress = -1;
  #graceTimer: unknown;

  constructor(
    request: WatchRequest,
    clock: MonotonicClock,
    onSettled: (task: TaskWatcher) => void,
  ) {
    this.request = request;
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

  /** Applies the current state of the task; undefined: the task no longer exists. */
  update(state: TaskState | undefined): void {
    const { ref, method, options } = this.request;
    if (state === undefined) {
      this.fail(
        new XoError("TASK_LOST", {
          method,
          reason: "the task no longer exists",
        }),
      );
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

  /** Rejects with ABORTED unless the cancelled task ends within `ms`. */
  failAfter(ms: number): void {
    this.#graceTimer ??= this.#clock.setTimeout(() => {
      const what = `${this.request.method} (the task continues on the pool)`;
      this.fail(new XoError("ABORTED", { what }));
    }, ms);
  }

  #settle(): void {
    if (this.#graceTimer !== undefined)
      this.#clock.clearTimeout(this.#graceTimer);
    this.#onSettled();
  }
}
