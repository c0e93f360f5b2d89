import { XapiTaskLog } from "./xapi-task-log.js";
import type { XapiTaskSubject } from "./xapi-task.js";
import { noSteps } from "./step-journal.js";

/** Of what a piece of work does many times. */
export interface TaskCounts {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly running: number;
  readonly waiting: number;
}

/**
 * Something that is being done, from inside: whoever does it tells how far it
 * is, and hears when nobody wants it any more.
 */
export interface TaskContext {
  /** Of the task that clients know; absent: nobody follows it. */
  readonly taskId?: string;
  /** Aborted when somebody gave the task up. */
  readonly signal: AbortSignal;
  /** @param fraction 0 to 1; without it, the progress is that of the part under way */
  progress(fraction: number): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  /** A part with a progress and an end of its own. */
  part<T>(name: string, run: (part: TaskContext) => Promise<T>): Promise<T>;
  /** A part that is a task of a pool: it is found again when the server has died. */
  runXapiTask<T>(
    name: string,
    subject: XapiTaskSubject,
    run: (part: TaskContext, log: XapiTaskLog) => Promise<T>,
  ): Promise<T>;
  /** How far each of the many is. */
  reportCounts(counts: TaskCounts): void;
  /**
   * Written down before it resolves, in the place of what was kept before: the
   * operation's `resume` gets it when the server has died meanwhile.
   * @param state JSON without secrets
   */
  persistState(state: object): Promise<void>;
  /**
   * The same in small pieces: what was kept by this key is replaced, the rest
   * stays. Parts do it for the task that they are of.
   */
  persistStep(key: string, state: object): Promise<void>;
  /** The same, a moment later: where the last moment may be lost. */
  persistStepSoon(key: string, state: object): void;
}

/** Nobody follows it: nothing of it is written down. */
const untrackedXapiTaskLog = (): XapiTaskLog =>
  new XapiTaskLog({
    subject: { pool: "", method: "" },
    part: "",
    steps: noSteps,
    clock: Date,
  });

/** What nobody follows. */
export const untrackedTask: TaskContext = {
  signal: new AbortController().signal,
  progress: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  part: (_name, run) => run(untrackedTask),
  persistState: () => Promise.resolve(),
  persistStep: () => Promise.resolve(),
  persistStepSoon: () => undefined,
  runXapiTask: (_name, _subject, run) =>
    run(untrackedTask, untrackedXapiTaskLog()),
  reportCounts: () => undefined,
};
