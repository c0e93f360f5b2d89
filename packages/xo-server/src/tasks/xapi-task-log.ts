import type { WallClock } from "@xo-server/kit";
import type { Ref } from "@xo-server/model";
import {
  XAPI_TASK_KEY,
  type XapiTask,
  type XapiTaskEnd,
  type XapiTaskSubject,
} from "./xapi-task.js";
import type { StepWriter } from "./step-journal.js";

interface XapiTaskLogOptions {
  readonly subject: XapiTaskSubject;
  /** Id of the part of this server's task that shows the XAPI task. */
  readonly part: string;
  readonly steps: StepWriter;
  readonly clock: Pick<WallClock, "now">;
}

/**
 * Persists the state of a XAPI task: before the call, when its reference is
 * known, and when it has ended.
 */
export class XapiTaskLog {
  /** Resolves when the end is persisted. */
  readonly persisted: Promise<void>;
  readonly #key: string;
  readonly #steps: StepWriter;
  #setWritten: () => void = () => undefined;
  #xapiTask: XapiTask;

  constructor({ subject, part, steps, clock }: XapiTaskLogOptions) {
    this.#key = `${XAPI_TASK_KEY}${part}`;
    this.#steps = steps;
    this.#xapiTask = { ...subject, call: part, begunAt: clock.now() };
    this.persisted = new Promise((resolve) => (this.#setWritten = resolve));
  }

  /**
   * Resolves when the intention to make the call is persisted.
   * @param session reference of its session, a secret
   */
  begin(session?: string): Promise<void> {
    if (session === undefined) return this.#write({});
    return this.#write({ session: this.#steps.sealSecret(session) });
  }

  /** To be called when the reference of the XAPI task is known. */
  noteReference(ref: Ref): void {
    void this.#write({ ref });
  }

  end(ended: XapiTaskEnd): void {
    this.#xapiTask = { ...this.#xapiTask, ended };
    // XAPI's task is destroyed only after this write, so that it is found again after a crash.
    void this.#steps.putSoon(this.#key, this.#xapiTask).then(this.#setWritten);
  }

  #write(changes: Partial<XapiTask>): Promise<void> {
    this.#xapiTask = { ...this.#xapiTask, ...changes };
    return this.#steps.put(this.#key, this.#xapiTask);
  }
}
