import type { StepWriter } from "./step-journal.js";

/**
 * For the task of an operation that has a `resume`: rejects a step that is to be on
 * disk before work begins, such as the start of a XAPI task, while the task has no
 * persisted state. Recovery calls `resume` only for tasks with a state, so that
 * work which began without one would never be cleaned up.
 * @param isPrepared whether the task has called `persistState`, or `declineResume`
 * @returns a writer whose `put` rejects with Error, an error of the program, until then
 */
export function requireState(
  steps: StepWriter,
  operation: string,
  isPrepared: () => boolean,
): StepWriter {
  return {
    get isClosed() {
      return steps.isClosed;
    },
    async put(key, body) {
      if (!isPrepared())
        throw new Error(
          `${operation} can be resumed, but has begun work before it persisted a state`,
        );
      await steps.put(key, body);
    },
    putSoon: (key, body) => steps.putSoon(key, body),
    sealSecret: (text) => steps.sealSecret(text),
  };
}
