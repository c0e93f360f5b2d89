import { toReadable } from "../output/readable.js";
import type { Context } from "../context.js";
import { followTask, taskIdOf } from "./follow-task.js";
import { readJson } from "./rest.js";
import type { Server } from "./server.js";

/** An action of the REST API. */
interface Action {
  /** Path below `rest/v0/`; parts that come from users must be encoded. */
  readonly path: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Whether the end of its task is waited for. */
  readonly wait: boolean;
}

/**
 * Starts an action, follows its task with a progress bar, and prints the result; with `--json` the task.
 * @throws RequestError: the task failed
 */
export async function runAction(
  context: Context,
  server: Server,
  { path, params = {}, wait }: Action,
): Promise<void> {
  const body = JSON.stringify(params);
  const response = await server.rest.request({
    method: "POST",
    path: `rest/v0/${path}`,
    body,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    },
  });
  const started = await readJson(response);
  const id = wait ? taskIdOf(started) : undefined;
  const { terminal } = context;
  if (id === undefined) {
    if (terminal.json) await terminal.jsonLine(started);
    else await terminal.write(toReadable(started));
    return;
  }
  const task = await followTask(context, server, id);
  if (terminal.json) await terminal.jsonLine(task);
  else await terminal.write(toReadable(task.result ?? task.status));
}
