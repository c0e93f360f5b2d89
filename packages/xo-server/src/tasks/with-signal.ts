import type { HeldLease } from "../cluster/held-lease.js";
import type { TaskContext, TaskCounts } from "./task-context.js";
import type { XapiTaskLog } from "./xapi-task-log.js";
import type { XapiTaskSubject } from "./xapi-task.js";

/** The same task context with a further abort signal, also for subtasks. */
export function withSignal(work: TaskContext, other: AbortSignal): TaskContext {
  return new AbortableContext(work, other);
}

class AbortableContext implements TaskContext {
  readonly signal: AbortSignal;
  readonly #work: TaskContext;
  readonly #other: AbortSignal;

  constructor(work: TaskContext, other: AbortSignal) {
    this.signal = AbortSignal.any([work.signal, other]);
    this.#work = work;
    this.#other = other;
  }

  get taskId(): string | undefined {
    return this.#work.taskId;
  }

  get wholeTaskId(): string | undefined {
    return this.#work.wholeTaskId;
  }

  get lease(): HeldLease | undefined {
    return this.#work.lease;
  }

  get isPatient(): boolean | undefined {
    return this.#work.isPatient;
  }

  progress(fraction: number): void {
    this.#work.progress(fraction);
  }

  info(message: string, data?: object): void {
    this.#work.info(message, data);
  }

  warn(message: string, data?: object): void {
    this.#work.warn(message, data);
  }

  part<T>(name: string, run: (part: TaskContext) => Promise<T>): Promise<T> {
    return this.#work.part(name, (part) => run(withSignal(part, this.#other)));
  }

  runXapiTask<T>(
    name: string,
    subject: XapiTaskSubject,
    run: (part: TaskContext, log: XapiTaskLog) => Promise<T>,
  ): Promise<T> {
    return this.#work.runXapiTask(name, subject, (part, log) =>
      run(withSignal(part, this.#other), log),
    );
  }

  reportCounts(counts: TaskCounts): void {
    this.#work.reportCounts(counts);
  }

  persistState(state: object): Promise<void> {
    return this.#work.persistState(state);
  }

  declineResume(): void {
    this.#work.declineResume();
  }

  persistStep(key: string, state: object): Promise<void> {
    return this.#work.persistStep(key, state);
  }

  persistStepSoon(key: string, state: object): void {
    this.#work.persistStepSoon(key, state);
  }
}
