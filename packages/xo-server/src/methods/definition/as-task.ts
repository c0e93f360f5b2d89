import type { TaskSubject } from "../../tasks/running-task.js";
import type { TaskContext } from "../../tasks/task-context.js";
import type { OperationContext } from "./define-operation.js";

/**
 * Runs code as a task that clients can follow. REST actions already have a task,
 * calls by JSON-RPC do not.
 */
export async function asTask<T>(
  { task, user, services, startedTask }: OperationContext,
  subject: Omit<TaskSubject, "userId">,
  run: (work: TaskContext) => Promise<T>,
): Promise<T> {
  if (task.taskId !== undefined) return run(task);
  const { result } = await services.tasks.run(
    { ...subject, userId: user?.id },
    (work) => {
      void startedTask.note(work.taskId);
      return run(work);
    },
  );
  return result;
}
