import { onScopeDispose, shallowRef, watch, type ShallowRef } from "vue";
import { useServer } from "../live/use-server.js";
import { noDetails, TaskDetailsReader } from "./task-details.js";
import type { TaskDetails } from "./task-details.js";
import type { TaskItem } from "./task.js";

/** Notes and subtasks of a task, live. @param task undefined: none are shown */
export function useTaskDetails(
  task: () => TaskItem | undefined,
): Readonly<ShallowRef<TaskDetails>> {
  const { call } = useServer();
  const details = shallowRef<TaskDetails>(noDetails);
  const reader = new TaskDetailsReader({
    get: (id) => call("task.get", { id }),
    onChange: (changed) => {
      details.value = changed;
    },
  });
  watch(
    task,
    (shown) => {
      reader.show(shown);
    },
    { flush: "sync" },
  );
  onScopeDispose(() => {
    reader.stop();
  });
  return details;
}
