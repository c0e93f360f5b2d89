import type { TaskOutcome } from "./xapi-task-watch.js";
import type { XapiTask } from "./xapi-task.js";

/** A XAPI task of an interrupted task, with its outcome. */
export interface EndedXapiTask {
  readonly xapiTask: XapiTask;
  readonly outcome: TaskOutcome;
}

/**
 * The outcome of an operation that is a single XAPI task.
 * @param methods of this XAPI task, where others may precede it; absent: any
 * @returns undefined: it was not begun, or others have begun
 */
export function outcomeOfCall(
  ended: readonly EndedXapiTask[],
  methods?: readonly string[],
): TaskOutcome | undefined {
  const last = ended.at(-1);
  const isCall =
    last !== undefined && methods?.includes(last.xapiTask.method) !== false;
  return isCall ? last.outcome : undefined;
}

/** Maximum number of names in a list: a task may have had thousands of XAPI tasks. */
const MAX_NAMED = 20;

/** Describes what was done and what was not done of an interrupted task that is not resumed. */
export function reportInterruption(ended: readonly EndedXapiTask[]): string {
  const wasDone = ({ xapiTask }: EndedXapiTask) =>
    xapiTask.ended?.status === "success";
  const is = (name: TaskOutcome["name"]) => (one: EndedXapiTask) =>
    one.outcome.name === name && !wasDone(one);
  return [
    ...list(ended, "done before", wasDone),
    ...list(ended, "finished by the pool since", is("success")),
    ...list(ended, "failed", is("failure"), reasonOf),
    ...list(ended, "outcome not known", is("unknown"), reasonOf),
    ...list(ended, "not started", is("not-begun")),
    ended.length === 0
      ? "no XAPI task was started"
      : "no further call was started",
  ].join("; ");
}

function list(
  ended: readonly EndedXapiTask[],
  label: string,
  test: (one: EndedXapiTask) => boolean,
  reason: (one: EndedXapiTask) => string = () => "",
): string[] {
  const all = ended.filter(test);
  if (all.length === 0) return [];
  const named = all.slice(0, MAX_NAMED).map((one) => {
    const why = reason(one);
    return why === "" ? one.xapiTask.method : `${one.xapiTask.method} (${why})`;
  });
  const more =
    all.length > MAX_NAMED ? ` and ${all.length - MAX_NAMED} more` : "";
  return [`${label}: ${named.join(", ")}${more}`];
}

function reasonOf({ outcome }: EndedXapiTask): string {
  if (outcome.name === "failure") return outcome.error.message;
  return outcome.name === "unknown" ? outcome.reason : "";
}
