import t, { type Test } from "tap";
import { Type } from "typebox";
import { taskOperations } from "../src/methods/jobs/task.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { defineOperation } from "../src/operations/operation.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeClock } from "./fake-clock.js";
import { FakeObjects } from "./fake-objects.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { as, startRestServer, type RestServer } from "./rest-server.js";

const users = {
  ada: [{ effect: "allow", resource: "*", action: "*" }],
  eve: [{ effect: "allow", resource: "*", action: "*" }],
} as const;

/** A server whose VM takes as long to start as a test requires. */
async function setUp(t: Test) {
  const ends: (() => void)[] = [];
  const calls: unknown[] = [];
  const objects = new FakeObjects([
    { id: "v", type: "VM" },
    { id: "t", type: "task", _xapiRef: "OpaqueRef:t" },
  ]);
  const xapi = {
    call: async (method: string, params: unknown) =>
      void calls.push([method, params]),
  };
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const logger = { warn: () => undefined };
  const tasks = new Tasks({ store, owner: "here", clock, logger });
  const start = defineOperation({
    name: "vm.start",
    summary: "start",
    params: Type.Object({ id: Type.String() }),
    result: Type.Boolean(),
    permission: { action: "operate:start", resource: "VM", id: ({ id }) => id },
    rest: {
      method: "post",
      path: "/vms/{id}/actions/start",
      operationId: "StartVm",
      isAction: true,
    },
    async handler(_, context) {
      await new Promise<void>((resolve, reject) => {
        ends.push(() => {
          context.progress(0.5);
        }, resolve);
        context.signal.addEventListener("abort", () => {
          reject(new Error("not wanted"));
        });
      });
      return true;
    },
  });
  const poolObjects = new PoolObjects(objects.views.catalog, {
    xapi: () => xapi as never,
  });
  const userGet = defineOperation({
    name: "user.get",
    summary: "a user",
    params: Type.Object({ id: Type.String() }),
    result: Type.Object({}),
    permission: "admin",
    handler: () => ({}),
  });
  const operations = [start, userGet, ...taskOperations];
  const server = await startRestServer(t, {
    objects,
    users,
    operations,
    poolObjects,
    services: { tasks },
    tasks,
  });
  const begin = async (name = "ada") => {
    const path = "/vms/v/actions/start";
    const init = { ...as(name), method: "POST" };
    const { taskId } = (await server.json(path, init, 202)) as {
      taskId: string;
    };
    return taskId;
  };
  return { ...server, calls, ends, begin, store };
}

/** Reads lines one by one. */
async function watch(t: Test, { get }: Pick<RestServer, "get">, path: string) {
  const abort = new AbortController();
  t.teardown(() => {
    abort.abort();
  });
  const answer = await get(path, { ...as("ada"), signal: abort.signal });
  t.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  return async (): Promise<unknown> => {
    while (!text.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) return undefined;
      text += Buffer.from(value).toString();
    }
    const line = text.slice(0, text.indexOf("\n"));
    text = text.slice(line.length + 1);
    return JSON.parse(line) as unknown;
  };
}

const path = "/tasks?ndjson=true&watch=true";

t.test("a watch sends the present rows, then their changes", async (t) => {
  const parts = await setUp(t);
  const { begin, ends, get } = parts;
  const first = await begin();
  await begin("eve");
  const next = await watch(t, parts, path);
  t.match(await next(), ["update", { id: first, status: "pending" }]);
  const second = await begin();
  t.match(await next(), ["update", { id: second, progress: 0 }]);
  ends[4]!();
  t.match(await next(), ["update", { id: second, progress: 50 }]);
  ends[5]!();
  t.match(await next(), ["update", { id: second, status: "success" }]);
  const init = { ...as("ada"), method: "DELETE" };
  t.equal((await get(`/tasks/${first}`, init)).status, 403, "it is pending");
  t.equal((await get(`/tasks/${second}`, init)).status, 204);
  t.same(await next(), ["remove", { id: second }]);
});

t.test("a watch has the requested fields and tasks", async (t) => {
  const parts = await setUp(t);
  const next = await watch(
    t,
    parts,
    `${path}&fields=status&filter=status:success`,
  );
  const id = await parts.begin();
  parts.ends[1]!();
  const href = `/rest/v0/tasks/${id}`;
  t.same(await next(), ["update", { status: "success", href }]);
  const init = { ...as("ada"), method: "DELETE" };
  t.equal((await parts.get("/tasks", init)).status, 204);
  t.same(await next(), ["remove", { id }]);
});

t.test("a watch requires lines and a signed-in user", async (t) => {
  const { json, get } = await setUp(t);
  t.match(await json("/tasks?watch=true", as("ada"), 400), { error: /ndjson/ });
  t.equal((await get(path, as("nobody"))).status, 401);
});

t.test("a task is aborted over REST with the right", async (t) => {
  const { begin, get, json } = await setUp(t);
  const id = await begin();
  const abort = `/tasks/${id}/actions/abort?sync=true`;
  const as_ = (name: string) => ({ ...as(name), method: "POST" });
  t.equal((await get(abort, as_("eve"))).status, 404);
  t.equal((await get(abort, as_("ada"))).status, 204);
  t.match(await json(`/tasks/${id}?wait=true`, as("ada")), {
    status: "failure",
    abortionRequestedAt: Number,
    result: { message: "internal error" },
  });
  t.match(await json(abort, as_("ada"), 403), { error: /forbidden operation/ });
});

t.test("tasks are listed in pages, no more than requested", async (t) => {
  const { json, store } = await setUp(t);
  for (let i = 0; i < 600; i++)
    await store.put({
      id: `t-${i}`,
      owner: "there",
      name: "n",
      userId: "id-of-ada",
      status: "success",
      startedAt: i,
      updatedAt: i,
      endedAt: i,
      objectId: i < 10 ? "id-of-ada" : "v",
      body: { properties: { n: i } },
    });
  const all = (await json("/tasks?fields=id", as("ada"))) as unknown[];
  t.equal(all.length, 600);
  const some = (await json("/tasks?limit=300", as("ada"))) as unknown[];
  t.equal(some.length, 300);
  t.same(await json("/tasks?limit=1", as("eve")), []);
  const about = (await json("/users/me/tasks", as("ada"))) as unknown[];
  t.equal(about.length, 10);
  await json("/users/id-of-ada/tasks", as("eve"), 403);
  t.equal(
    ((await json("/users/id-of-ada/tasks", as("admin"))) as unknown[]).length,
    10,
  );
});
