import type { Ref } from "@xo-server/model";
import type { Clock } from "../clock.js";
import {
  XAPI_TASK_KEY,
  type XapiTask,
  type XapiTaskEnd,
  type XapiTaskSubject,
} from "./xapi-task.js";
import type { StepWriter } from "./step-journal.js";

export interface XapiTaskLogOptions {
  readonly subject: XapiTaskSubject;
  /** Id of the part of the task that it is. */
  readonly part: string;
  readonly steps: StepWriter;
  readonly clock: Pick<Clock, "now">;
}

/** Writes down what becomes of a task of a pool: before the pool is asked, when it has told the task, and when that has ended. */
export class XapiTaskLog {
  /** Resolves when it is written down how it ended. */
  readonly persisted: Promise<void>;
  readonly #key: string;
  readonly #steps: StepWriter;
  #setWritten: () => void = () => undefined;
  #xapiTask: XapiTask;

  constructor({ subject, part, steps, clock }: XapiTaskLogOptions) {
    this.#key = `${XAPI_TASK_KEY}${part}`;
    this.#steps = steps;
    this.#xapiTask = { ...subject, begunAt: clock.now() };
    this.persisted = new Promise((resolve) => (this.#setWritten = resolve));
  }

  /** Resolves when it is written down that the pool is about to be asked. */
  begin(): Promise<void> {
    return this.#write({});
  }

  /** The pool has told its task. */
  noteReference(ref: Ref): void {
    void this.#write({ ref });
  }

  end(ended: XapiTaskEnd): void {
    this.#xapiTask = { ...this.#xapiTask, ended };
    // The pool keeps the task until then: a server that dies before finds it.
    void this.#steps.putSoon(this.#key, this.#xapiTask).then(this.#setWritten);
  }

  #write(news: Partial<XapiTask>): Promise<void> {
    this.#xapiTask = { ...this.#xapiTask, ...news };
    return this.#steps.put(this.#key, this.#xapiTask);
  }
}
