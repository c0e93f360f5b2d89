import type { IncomingMessage } from "node:http";
import { createInterface } from "node:readline";
import { RequestError } from "../cli-error.js";
import type { Context } from "../context.js";
import { Progress } from "../output/progress.js";
import type { Server } from "./server.js";

/** A task of the REST API; times in ms. */
interface Task {
  readonly id: string;
  readonly status: string;
  readonly progress?: number;
  readonly properties?: { readonly name?: string };
  readonly result?: unknown;
}

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 2000;

/** Waits for a task, with a progress bar. @throws RequestError: the task failed */
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
    void terminal.note(`\nthe task continues: xo-cli rest get tasks/${id}`);
  };
  host.interrupted.addEventListener("abort", onInterrupt);
  try {
    const first = await readTask(server, id);
    if (first.status !== "pending") return toSuccess(first);
    await show(first);
    const followed = { server, id, show };
    // Without a progress bar polling is sufficient.
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

/** Polls with increasing intervals. @param wait before the first poll, in ms */
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
 * Watches a task until it has ended.
 * @returns false: not supported, or the connection was lost; the caller polls
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
  let response: IncomingMessage;
  try {
    const path = `rest/v0/tasks?${query.toString()}`;
    response = await server.rest.request({ method: "GET", path });
  } catch {
    // The caller polls the task instead.
    return false;
  }
  try {
    const lines = createInterface({ input: response, crlfDelay: Infinity });
    for await (const line of lines) {
      const task = toUpdate(line, id);
      if (task === undefined) continue;
      if (task.status !== "pending") return true;
      await show(task);
      // Limits the rate of redraws.
      await context.delay(FIRST_DELAY_MS);
    }
  } catch {
    // Connection lost: the caller polls.
  } finally {
    response.destroy();
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

/** The task id in a response that consists of a task id only. */
export function taskIdOf(answer: unknown): string | undefined {
  if (typeof answer === "object" && answer !== null) {
    const { taskId } = answer as { taskId?: unknown };
    return typeof taskId === "string" ? taskId : undefined;
  }
  // Older servers respond to an action with the href of its task.
  return typeof answer === "string"
    ? /^\/rest\/v0\/tasks\/([\w-]+)$/.exec(answer)?.[1]
    : undefined;
}

function toFailure({ id, status, result }: Task): RequestError {
  const { message, code } = Object(result) as {
    message?: unknown;
    code?: unknown;
  };
  const reason = typeof message === "string" ? message : `status ${status}`;
  return new RequestError(
    `task ${id}: ${reason}`,
    typeof code === "string" ? code : "TASK_FAILED",
    result,
  );
}
