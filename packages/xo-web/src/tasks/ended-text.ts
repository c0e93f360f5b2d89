import { failureMessage } from "../actions/plan/error-message.js";
import type { Formats } from "../locale/formats.js";
import { fill, type Messages } from "../locale/messages.js";
import type { Toast } from "../toasts/use-toasts.js";
import { failedRunOf } from "./failed-run.js";
import { taskName } from "./task-name.js";
import { reasonOf, type TaskItem } from "./task.js";

/** A toast about tasks that have ended. */
interface EndedToast extends Omit<Toast, "action"> {
  /** Path of the log of the run that has failed; absent: see the tasks. */
  readonly runPath?: string;
}

/** One toast for all tasks that have ended at about the same time. */
export function toastOf(
  ended: readonly TaskItem[],
  messages: Messages,
  formats: Formats,
): EndedToast | undefined {
  const { tasks: text } = messages;
  const why = (task: TaskItem) => {
    const failure = reasonOf(task);
    return failure && failureMessage(failure, messages);
  };
  const [first] = ended;
  if (first === undefined) return undefined;
  const failed = ended.filter(({ status }) => status !== "success");
  const tone = failed.length > 0 ? "bad" : "good";
  const run =
    failed.length === 1 ? failedRunOf(reasonOf(failed[0]!)) : undefined;
  const link = run?.path === undefined ? {} : { runPath: run.path };
  if (ended.length === 1) {
    const name = run?.jobName ?? taskName(first, messages);
    const template = tone === "good" ? text.done : text.failed;
    const detail = why(first);
    return {
      id: `task ${first.id}`,
      tone,
      text: fill(template, { name }),
      ...(detail === undefined ? {} : { detail }),
      ...link,
    };
  }
  const done = formats.plural(text.someDone, ended.length - failed.length);
  if (failed.length === 0) return { id: "tasks ended", tone, text: done };
  const reason = why(failed[0]!);
  const detail =
    run === undefined || reason === undefined
      ? reason
      : `${run.jobName}: ${reason}`;
  return {
    id: "tasks ended",
    tone,
    text: `${done}, ${formats.plural(text.someFailed, failed.length)}`,
    ...(detail === undefined ? {} : { detail }),
    ...link,
  };
}
