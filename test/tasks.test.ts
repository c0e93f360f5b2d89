import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import t from "tap";
import { RunningProgram } from "./running-program.js";
import { StatusPage } from "./status-page.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

const PASSWORD = "correct horse battery";

interface Task {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
}

t.test("a task of a pool is watched and cancelled", LIMIT, async (t) => {
  const server = new RunningProgram(
    t,
    "xo-server",
    ["start", "--demo", "C", "--host", "127.0.0.1", "--port", "0"],
    { env: { XO_ADMIN_PASSWORD: PASSWORD } },
  );
  const url = await server.find(/Web server listening on (http:\S+)/);
  const page = await StatusPage.open(t, url);
  await page.until(({ pools }) => pools["c"]?.state === "watching");
  const abort = new AbortController();
  t.teardown(() => {
    abort.abort();
  });
  const request = (path: string, method = "GET") =>
    fetch(`${url}/rest/v0${path}`, {
      method,
      headers: { authorization: `Basic ${btoa(`admin:${PASSWORD}`)}` },
      signal: abort.signal,
    });
  const running = "/vms?filter=power_state:running&fields=id&limit=2";
  const [first, second] = (await (await request(running)).json()) as Task[];
  const stop = async (vm: Task | undefined) => {
    const path = `/vms/${vm!.id}/actions/clean_shutdown`;
    const answer = (await (await request(path, "POST")).json()) as {
      taskId: string;
    };
    return answer.taskId;
  };

  const watch = await request("/tasks?ndjson=true&watch=true");
  const lines = createInterface({
    input: Readable.fromWeb(watch.body as never),
  });
  const events = lines[Symbol.asyncIterator]();
  const nextOf = async (id: string): Promise<Task> => {
    for (;;) {
      const line = String((await events.next()).value);
      const [, task] = JSON.parse(line) as [string, Task];
      if (task.id === id) return task;
    }
  };

  const done = await stop(first);
  const seen: number[] = [];
  let task = await nextOf(done);
  for (; task.status === "pending"; task = await nextOf(done))
    seen.push(task.progress);
  t.equal(task.status, "success");
  t.ok(
    seen.some((percent) => percent > 0 && percent < 100),
    `the pool's progress is seen: ${seen.join()}`,
  );
  t.match(task, {
    tasks: [{ properties: { name: "XAPI: VM.clean_shutdown" } }],
  });

  const unwanted = await stop(second);
  const given = await request(
    `/tasks/${unwanted}/actions/abort?sync=true`,
    "POST",
  );
  t.equal(given.status, 204);
  const ended: unknown = await (
    await request(`/tasks/${unwanted}?wait=true`)
  ).json();
  t.match(ended, { status: "failure", result: { code: "ABORTED" } });
  const vm: unknown = await (await request(`/vms/${second!.id}`)).json();
  t.match(vm, { power_state: "Running" }, "the pool has cancelled it");
  abort.abort();
});
