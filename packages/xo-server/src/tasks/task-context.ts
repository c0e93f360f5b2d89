import type { HeldLease } from "../cluster/held-lease.js";
import { XapiTaskLog } from "./xapi-task-log.js";
import type { XapiTaskSubject } from "./xapi-task.js";
import { noSteps } from "./step-journal.js";

/** Counts of a task with many calls. */
export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
}

/** A task as seen by the code that runs in it: for progress, messages, parts and cancellation. */
export interface TaskContext {
  /** Id of the task that clients see, or of this part of it; absent: clients see no task. */
  readonly taskId?: string | undefined;
  /** Id of the whole task, which clients list and cancel; absent: clients see no task. */
  readonly wholeTaskId?: string | undefined;
  /** The lease under which the task acts; absent: there is only one server. */
  readonly lease?: HeldLease | undefined;
  /** Aborted when the task is cancelled. */
  readonly signal: AbortSignal;
  /**
   * Calls wait longer for a pool that cannot be reached: this is one of many calls of a larger task, or a task that has begun
   * and would stop midway.
   */
  readonly isPatient?: boolean | undefined;
  /** @param fraction 0 to 1; without a call, the progress is that of the running part */
  progress(fraction: number): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  /** Runs a part with its own progress and status. */
  part<T>(name: string, run: (part: TaskContext) => Promise<T>): Promise<T>;
  /** Runs a part that is a XAPI task: it is found again after a crash of the server. */
  runXapiTask<T>(
    name: string,
    subject: XapiTaskSubject,
    run: (part: TaskContext, log: XapiTaskLog) => Promise<T>,
  ): Promise<T>;
  /** Sets the counts of a task with many calls. */
  reportCounts(counts: TaskCounts): void;
  /**
   * Persists the state that the `resume` of the operation gets after a crash
   * of the server. Replaces the former state; resolves when it is on disk.
   * @param state JSON without secrets
   * @throws XoError TASK_TAKEN_OVER: another server has adopted the task, with the former state
   */
  persistState(state: object): Promise<void>;
  /**
   * Declares, instead of `persistState`, that this task is not resumed although its operation
   * has a `resume`: recovery waits for its XAPI tasks, and reports what was not done.
   */
  declineResume(): void;
  /** Persists one step by key; steps with other keys remain. Parts persist steps of their task. */
  persistStep(key: string, state: object): Promise<void>;
  /** Like `persistStep`, but delayed: the last steps may be lost in a crash. */
  persistStepSoon(key: string, state: object): void;
}

/** Persists nothing. */
const untrackedXapiTaskLog = (): XapiTaskLog =>
  new XapiTaskLog({
    subject: { pool: "", method: "" },
    part: "",
    steps: noSteps,
    clock: Date,
  });

/** For calls without a task: progress and messages are dropped. */
export const untrackedTask: TaskContext = {
  signal: new AbortController().signal,
  progress: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  part: (_name, run) => run(untrackedTask),
  persistState: () => Promise.resolve(),
  declineResume: () => undefined,
  persistStep: () => Promise.resolve(),
  persistStepSoon: () => undefined,
  runXapiTask: (_name, _subject, run) =>
    run(untrackedTask, untrackedXapiTaskLog()),
  reportCounts: () => undefined,
};
