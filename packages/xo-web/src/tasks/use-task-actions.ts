import { shallowReactive } from "vue";
import { useServer } from "../live/use-server.js";
import { fill } from "../locale/messages.js";
import { useLocale } from "../locale/use-locale.js";
import { useToasts } from "../toasts/use-toasts.js";
import type { FailedItems } from "./failed-items.js";
import type { TaskItem } from "./task.js";

interface TaskActions {
  /** Ids of tasks whose cancel request is being sent. */
  readonly cancelling: ReadonlySet<string>;
  readonly cancel: (task: TaskItem) => Promise<void>;
  /** Runs the operation again for the objects that it has failed for, as a new task. */
  readonly retry: (failed: Pick<FailedItems, "retry">) => Promise<void>;
  /** Removes our tasks that have ended from the list. */
  readonly clear: () => Promise<void>;
}

/** Actions on tasks. A failure is shown in a toast. */
export function useTaskActions(): TaskActions {
  const { call } = useServer();
  const { text } = useLocale();
  const { show } = useToasts();
  const cancelling = shallowReactive(new Set<string>());

  async function attempt(id: string, method: string, params: object) {
    try {
      await call(method, params as never);
    } catch (error) {
      const detail = (error as Error).message;
      const texts = fill(text.value.ui.failed, { reason: detail });
      show({ id: `task ${id}`, tone: "bad", text: texts });
    }
  }

  return {
    cancelling,
    async cancel({ id, source }) {
      if (cancelling.has(id)) return;
      cancelling.add(id);
      const method = source === "ours" ? "task.abort" : "task.cancel";
      await attempt(id, method, { id });
      cancelling.delete(id);
    },
    async retry({ retry }) {
      if (retry !== undefined) await attempt("retry", "bulk.run", retry);
    },
    clear: () => attempt("clear", "task.deleteAll", {}),
  };
}
