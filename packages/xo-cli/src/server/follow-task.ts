import { Refusal } from "../cli-error.js";
import type { Context } from "../context.js";
import { Progress } from "../output/progress.js";
import type { Server } from "./server.js";

/** As REST tells of it; times in ms. */
export interface Task {
  readonly id: string;
  readonly status: string;
  readonly progress?: number;
  readonly properties?: { readonly name?: string };
  readonly result?: unknown;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2000;

/** Until it has ended, with a bar on the terminal. @throws Refusal when it failed */
export async function followTask(
  context: Context,
  server: Server,
  id: string,
): Promise<Task> {
  const { terminal, host } = context;
  const path = `rest/v0/tasks/${encodeURIComponent(id)}`;
  const progress = new Progress(terminal, `task ${id}`);
  const onInterrupt = (): void => {
    void terminal.note(`\nthe task goes on: xo-cli rest get tasks/${id}`);
  };
  host.interrupted.addEventListener("abort", onInterrupt);
  try {
    for (let wait = FIRST_DELAY_MS; ; wait = Math.min(wait * 2, MAX_DELAY_MS)) {
      const task = (await server.rest.getJson(path)) as Task;
      if (task.status === "success") return task;
      if (task.status !== "pending") throw toFailure(task);
      await progress.show(task.progress, task.properties?.name ?? "");
      await context.delay(wait);
    }
  } finally {
    host.interrupted.removeEventListener("abort", onInterrupt);
    await progress.clear();
  }
}

/** The id in an answer that names a task and nothing else. */
export function taskIdOf(answer: unknown): string | undefined {
  if (typeof answer === "object" && answer !== null) {
    const { taskId } = answer as { taskId?: unknown };
    return typeof taskId === "string" ? taskId : undefined;
  }
  // Older servers answer an action with the address of its task.
  return typeof answer === "string"
    ? /^\/rest\/v0\/tasks\/([\w-]+)$/.exec(answer)?.[1]
    : undefined;
}

function toFailure({ id, status, result }: Task): Refusal {
  const { message, code } = Object(result) as {
    message?: unknown;
    code?: unknown;
  };
  const told = typeof message === "string" ? message : `it is ${status}`;
  return new Refusal(
    `task ${id}: ${told}`,
    typeof code === "string" ? code : "TASK_FAILED",
    result,
  );
}
