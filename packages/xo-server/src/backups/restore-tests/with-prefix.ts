import type { TaskContext } from "../../tasks/task-context.js";

/**
 * The same task, with a prefix for the state and steps that it persists, because it
 * contains several tests.
 */
export function withPrefix(task: TaskContext, prefix: string): TaskContext {
  const { taskId, wholeTaskId, lease, signal } = task;
  return {
    ...(taskId === undefined ? {} : { taskId }),
    ...(wholeTaskId === undefined ? {} : { wholeTaskId }),
    lease,
    signal,
    progress: (fraction) => task.progress(fraction),
    info: (message, data) => task.info(message, data),
    warn: (message, data) => task.warn(message, data),
    part: (name, run) => task.part(name, run),
    runXapiTask: (name, subject, run) => task.runXapiTask(name, subject, run),
    reportCounts: (counts) => task.reportCounts(counts),
    persistState: (state) => task.persistStep(`${prefix}state`, state),
    declineResume: () => undefined,
    persistStep: (key, state) => task.persistStep(`${prefix}${key}`, state),
    persistStepSoon: (key, state) =>
      task.persistStepSoon(`${prefix}${key}`, state),
  };
}

/** Returns the steps that `withPrefix` has persisted. */
export function stepsOf(
  steps: ReadonlyMap<string, unknown>,
  prefix: string,
): ReadonlyMap<string, unknown> {
  const own = [...steps].filter(([key]) => key.startsWith(prefix));
  return new Map(own.map(([key, state]) => [key.slice(prefix.length), state]));
}
