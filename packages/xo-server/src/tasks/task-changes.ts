import type { Task } from "@xo-server/store";
import type { TaskView } from "./task-view.js";

/** A change of a task. */
export type TaskChange =
  | {
      readonly kind: "update";
      readonly userId: string | undefined;
      readonly task: TaskView;
    }
  | {
      readonly kind: "remove";
      readonly userId: string | undefined;
      readonly id: string;
    };

export type TaskListener = (change: TaskChange) => void;

/** A reader of tasks: administrators see all, other users their own. */
export interface TaskReader {
  readonly id: string;
  readonly isAdmin: boolean;
}

/** @param user undefined: an anonymous client, which has no tasks */
export function toTaskReader(user: TaskReader | undefined): TaskReader {
  return user ?? { id: "", isAdmin: false };
}

/** Users read their own tasks, administrators all. */
export function mayRead(
  { id, isAdmin }: TaskReader,
  { userId }: { readonly userId?: Task["userId"] | undefined },
): boolean {
  return isAdmin || userId === id;
}
