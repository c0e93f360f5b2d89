import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
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
  const progress = new Progress(terminal, `task ${id}`);
  const show = (task: Task): Promise<void> =>
    progress.show(task.progress, task.properties?.name ?? "");
  const onInterrupt = (): void => {
    void terminal.note(`\nthe task goes on: xo-cli rest get tasks/${id}`);
  };
  host.interrupted.addEventListener("abort", onInterrupt);
  try {
    const first = await readTask(server, id);
    if (first.status !== "pending") return toSuccess(first);
    await show(first);
    const followed = { server, id, show };
    // Who sees no bar is well served by asking now and then.
    const hasEnded = terminal.canRedraw && (await watchTask(context, followed));
    const wait = hasEnded ? 0 : FIRST_DELAY_MS;
    return toSuccess(await pollTask(context, followed, wait));
  } finally {
    host.interrupted.removeEventListener("abort", onInterrupt);
    await progress.clear();
  }
}

interface Followed {
  readonly server: Server;
  readonly id: string;
  readonly show: (task: Task) => Promise<void>;
}

/** Asks again and again, ever less often. @param wait before the first time, in ms */
async function pollTask(
  context: Context,
  { server, id, show }: Followed,
  wait: number,
): Promise<Task> {
  for (let ms = wait; ; ms = Math.min(ms * 2, MAX_DELAY_MS)) {
    if (ms > 0) await context.delay(ms);
    const task = await readTask(server, id);
    if (task.status !== "pending") return task;
    await show(task);
    ms = Math.max(ms, FIRST_DELAY_MS / 2);
  }
}

/**
 * Takes what the server tells until the task has ended.
 * @returns false: that is not to be had, or broke off; asking is left
 */
async function watchTask(
  context: Context,
  { server, id, show }: Followed,
): Promise<boolean> {
  const query = new URLSearchParams({
    ndjson: "true",
    watch: "true",
    filter: `id:"${id}"`,
  });
  let answer: IncomingMessage;
  try {
    const path = `rest/v0/tasks?${query.toString()}`;
    answer = await server.rest.request({ method: "GET", path });
  } catch {
    return false;
  }
  try {
    const lines = createInterface({ input: answer, crlfDelay: Infinity });
    for await (const line of lines) {
      const task = toUpdate(line, id);
      if (task === undefined) continue;
      if (task.status !== "pending") return true;
      await show(task);
      // A bar that is drawn more often is no better.
      await context.delay(FIRST_DELAY_MS);
    }
  } catch {
    // The connection broke off: asking tells what became of it.
  } finally {
    answer.destroy();
  }
  return false;
}

function toUpdate(line: string, id: string): Task | undefined {
  if (line === "") return undefined;
  const [event, task] = JSON.parse(line) as [unknown, Task];
  return event === "update" && task.id === id ? task : undefined;
}

async function readTask(server: Server, id: string): Promise<Task> {
  const path = `rest/v0/tasks/${encodeURIComponent(id)}`;
  return (await server.rest.getJson(path)) as Task;
}

function toSuccess(task: Task): Task {
  if (task.status === "success") return task;
  throw toFailure(task);
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
