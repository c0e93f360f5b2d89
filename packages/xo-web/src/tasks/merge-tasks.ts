import type { TaskItem, TaskStatus } from "./task.js";

export interface TaskChoice {
  readonly status: "all" | Exclude<TaskStatus, "interrupted">;
  readonly source: "all" | TaskItem["source"];
}

/** Merges both lists: running tasks first, then the newest. */
export function mergeTasks(
  ours: readonly TaskItem[],
  ofPools: readonly TaskItem[],
  { status, source }: TaskChoice,
): readonly TaskItem[] {
  return [...ours, ...ofPools]
    .filter((task) => source === "all" || task.source === source)
    .filter(
      (task) =>
        status === "all" ||
        task.status === status ||
        // Interrupted tasks count as failed: they were not completed.
        (status === "failure" && task.status === "interrupted"),
    )
    .sort(
      (a, b) =>
        rankOf(a) - rankOf(b) || b.start - a.start || (a.id < b.id ? 1 : -1),
    );
}

function rankOf({ status }: TaskItem): number {
  return status === "pending" ? 0 : 1;
}

/** Progress of all tasks together, 0 to 1. */
export function overallProgress(tasks: readonly TaskItem[]): number {
  if (tasks.length === 0) return 0;
  const sum = tasks.reduce((all, { progress }) => all + progress, 0);
  return sum / tasks.length;
}
