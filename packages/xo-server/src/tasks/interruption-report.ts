import type { TaskOutcome } from "./xapi-task-watch.js";
import type { XapiTask } from "./xapi-task.js";

/** A XAPI task of an interrupted task, and how it ended. */
export interface EndedXapiTask {
  readonly xapiTask: XapiTask;
  readonly outcome: TaskOutcome;
}

/** Names of one kind at most: a task may have had thousands of XAPI tasks. */
const MOST_NAMED = 20;

/** Describes what was done and what was not done of an interrupted task that is not resumed. */
export function reportInterruption(landed: readonly EndedXapiTask[]): string {
  const wasDone = ({ xapiTask }: EndedXapiTask) =>
    xapiTask.ended?.status === "success";
  const is = (name: TaskOutcome["name"]) => (one: EndedXapiTask) =>
    one.outcome.name === name && !wasDone(one);
  return [
    ...list(landed, "done before", wasDone),
    ...list(landed, "finished by the pool since", is("success")),
    ...list(landed, "failed", is("failure"), reasonOf),
    ...list(landed, "outcome not known", is("unknown"), reasonOf),
    ...list(landed, "not started", is("not-begun")),
    landed.length === 0
      ? "no XAPI task was started"
      : "the following calls were not started",
  ].join("; ");
}

function list(
  landed: readonly EndedXapiTask[],
  label: string,
  test: (one: EndedXapiTask) => boolean,
  reason: (one: EndedXapiTask) => string = () => "",
): string[] {
  const all = landed.filter(test);
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_NAMED).map((one) => {
    const why = reason(one);
    return why === "" ? one.xapiTask.method : `${one.xapiTask.method} (${why})`;
  });
  const more =
    all.length > MOST_NAMED ? ` and ${all.length - MOST_NAMED} more` : "";
  return [`${label}: ${named.join(", ")}${more}`];
}

function reasonOf({ outcome }: EndedXapiTask): string {
  if (outcome.name === "failure") return outcome.error.message;
  return outcome.name === "unknown" ? outcome.reason : "";
}
