import { computed, type ComputedRef } from "vue";
import { usePolled } from "../forms/use-polled.js";
import type { RequestResult } from "../forms/use-request.js";
import type { TaskItem } from "../tasks/task.js";
import { useTasks } from "../tasks/use-tasks.js";
import type { Repository } from "./repository.js";

/** The server sends no notifications of repositories. */
const INTERVAL_MS = 20_000;

interface Repositories extends RequestResult<readonly Repository[]> {
  /** Sorted by name. */
  readonly sorted: ComputedRef<readonly Repository[] | undefined>;
  /** Running tasks of a repository. */
  readonly tasksOf: (id: string) => readonly TaskItem[];
}

/** Backup repositories in their last known state: requested again at an interval, and when a task of one ends. */
export function useRepositories(): Repositories {
  const result = usePolled<readonly Repository[]>(
    (call) => call("remote.getAll"),
    INTERVAL_MS,
  );
  const { tasks, onEnded } = useTasks();
  onEnded((ended) => {
    const isOfOne = (task: TaskItem) =>
      task.object?.type === "backup-repository";
    if (ended.some(isOfOne)) void result.reload();
  });
  return {
    ...result,
    sorted: computed(() =>
      result.value.value?.toSorted((a, b) => a.name.localeCompare(b.name)),
    ),
    tasksOf: (id) =>
      (tasks.value ?? []).filter(
        ({ status, object }) => status === "pending" && object?.id === id,
      ),
  };
}
