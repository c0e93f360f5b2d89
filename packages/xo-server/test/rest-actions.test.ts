import { XapiError } from "@xo-server/model";
import t from "tap";
import { Type } from "typebox";
import { Tasks } from "../src/tasks/tasks.js";
import {
  defineOperation,
  type Operation,
} from "../src/operations/operation.js";
import type { RestRoute } from "../src/operations/rest-route.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { FakeObjects } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";

const allow = (action: string) =>
  ({ effect: "allow", resource: "VM", action }) as const;
const users = {
  reader: [allow("read")],
  operator: [allow("read"), allow("operate")],
};

const action = (name: string, route: Partial<RestRoute> = {}): RestRoute => ({
  method: "post",
  path: `/vms/{id}/actions/${name}`,
  operationId: name,
  isAction: true,
  ...route,
});

const routes: Readonly<Record<string, readonly RestRoute[]>> = {
  "vm.start": [action("start", { from: "Halted", body: { hostId: "host" } })],
  "vm.stop": [action("hard_shutdown", { params: { force: true } })],
  "vm.restart": [action("clean_reboot", { params: { force: false } })],
  "vm.snapshot": [
    action("snapshot", {
      creates: "vm-snapshots",
      body: { name_label: "name" },
    }),
  ],
};

function routesOf(name: string): Pick<Operation, "rest"> {
  const rest = routes[name];
  return rest === undefined ? {} : { rest };
}

/** A VM, what is asked of it, and when that ends. */
function setUp() {
  const calls: unknown[] = [];
  let end: (result: unknown) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const define = (name: string): Operation =>
    defineOperation({
      ...routesOf(name),
      name,
      summary: name,
      params: Type.Object({
        id: Type.String(),
        host: Type.Optional(Type.String()),
        force: Type.Optional(Type.Boolean()),
        name: Type.Optional(Type.String()),
        tag: Type.Optional(Type.String()),
      }),
      result: Type.Unknown(),
      changes: true,
      permission: {
        action: "operate:use",
        resource: "VM",
        id: ({ id }) => id,
      },
      handler: (params) => {
        calls.push({ ...params, operation: name });
        return name.startsWith("tag")
          ? true
          : new Promise((resolve, reject) => {
              end = resolve;
              fail = reject;
            });
      },
    });
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const logger = { warn: () => undefined };
  return {
    calls,
    clock,
    end: (result: unknown) => {
      end(result);
    },
    fail: (error: Error) => {
      fail(error);
    },
    options: {
      users,
      objects: new FakeObjects([
        { id: "v", type: "VM", power_state: "Halted" },
        { id: "p", type: "VM", power_state: "Paused" },
      ]),
      operations: [
        "vm.start",
        "vm.stop",
        "vm.restart",
        "vm.snapshot",
        "tag.add",
        "tag.remove",
      ].map((name) => define(name)),
      tasks: new Tasks({ store, owner: "here", clock, logger }),
    },
  };
}

const post = (name: string, body?: string): RequestInit => ({
  method: "POST",
  headers: {
    ...as(name).headers,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  },
  ...(body === undefined ? {} : { body }),
});

t.test("an action returns a task, which reports its outcome", async (t) => {
  const { options, calls, clock, end } = setUp();
  const { get, json } = await startRestServer(t, options);
  const answer = await get("/vms/v/actions/start", post("operator"));
  t.equal(answer.status, 202);
  const { taskId } = (await answer.json()) as { taskId: string };
  t.equal(answer.headers.get("location"), `/rest/v0/tasks/${taskId}`);
  t.match(taskId, /^[0-9a-z]+-[0-9a-z]+$/);
  t.same(calls, [{ operation: "vm.start", id: "v" }]);
  t.match(await json(`/tasks/${taskId}`, as("operator")), {
    id: taskId,
    status: "pending",
    start: clock.now(),
    properties: {
      name: "REST API: start VM",
      objectId: "v",
      userId: "id-of-operator",
      retry: { method: "vm.start", idParameter: "id", ids: ["v"], params: {} },
    },
  });
  const waiting = json(`/tasks/${taskId}?wait=true`, as("operator"));
  clock.pass(500);
  end(true);
  const ended = (await waiting) as Record<string, unknown>;
  t.match(ended, { status: "success", end: clock.now() });
  t.notOk("result" in ended);
  t.same(await json("/vms/v/tasks", as("operator")), [
    `/rest/v0/tasks/${taskId}`,
  ]);
  t.match(await json("/tasks?fields=status", as("admin")), [
    { status: "success" },
  ]);
  t.same(await json("/tasks", as("reader")), [], "others see none of it");
  await json(`/tasks/${taskId}`, as("reader"), 404);
});

t.test("errors of the work are the task's, in XAPI's words", async (t) => {
  const { options, fail } = setUp();
  const { json } = await startRestServer(t, options);
  const begin = async (path: string) =>
    (await json(path, post("admin"), 202)) as { taskId: string };
  const { taskId } = await begin("/vms/v/actions/start");
  fail(new XapiError("NO_HOSTS", ["v"]));
  const wait = `/tasks/${taskId}?wait=true`;
  t.match(await json(wait, as("admin")), {
    status: "failure",
    result: { code: "NO_HOSTS", params: ["v"], message: "NO_HOSTS(v)" },
  });
  const paused = await begin("/vms/p/actions/start");
  t.match(
    await json(`/tasks/${paused.taskId}?wait=true`, as("admin")),
    {
      result: { code: "VM_BAD_POWER_STATE", params: ["p", "halted", "paused"] },
    },
    "start only starts",
  );
});

t.test(
  "a caller without the right, or with an unknown id, is refused immediately",
  async (t) => {
    const { options, calls } = setUp();
    const { json } = await startRestServer(t, options);
    t.match(await json("/vms/v/actions/start", post("reader"), 403), {
      error: "not enough privileges",
    });
    await json("/vms/p/actions/start", post("reader"), 403);
    await json("/vms/absent/actions/start", post("admin"), 404);
    await json("/vms/v/actions/start", { method: "POST" }, 401);
    await json("/vms/v/actions/explode", post("admin"), 404);
    t.match(await json("/vms/v/actions/start", post("admin", '{"x":1}'), 422), {
      error: { "body.x": { message: /excess property/ } },
    });
    for (const [path, body] of [
      ["start", { host: "h" }],
      ["hard_shutdown", { force: false }],
    ] as const)
      t.match(
        await json(
          `/vms/v/actions/${path}`,
          post("admin", JSON.stringify(body)),
          422,
        ),
        { error: { [`body.${Object.keys(body)[0]}`]: { message: /excess/ } } },
        "what has another name here, or is fixed, is not taken",
      );
    await json("/vms/v/actions/start?sync=1", post("admin"), 422);
    t.same(calls, []);
  },
);

t.test("an empty body is ignored, whatever its type", async (t) => {
  const { options } = setUp();
  const { get } = await startRestServer(t, options);
  const start = (type: string, body: string) =>
    get("/vms/v/actions/start?sync=False", {
      method: "POST",
      headers: { ...as("operator").headers, "content-type": type },
      body,
    });
  for (const type of [
    "application/octet-stream",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json",
  ])
    t.equal((await start(type, "")).status, 202, type);
  t.equal((await start("application/octet-stream", "{}")).status, 415);
});

t.test("with sync the answer waits", async (t) => {
  const { options, calls, end, fail } = setUp();
  const { get, json } = await startRestServer(t, options);
  const whenCalled = async (count: number) => {
    while (calls.length < count) await new Promise(setImmediate);
  };
  const snapshot = get(
    "/vms/v/actions/snapshot?sync=true",
    post("operator", '{"name_label":"s"}'),
  );
  await whenCalled(1);
  end("new");
  const answer = await snapshot;
  t.equal(answer.status, 201);
  t.equal(answer.headers.get("location"), "/rest/v0/vm-snapshots/new");
  t.same(await answer.json(), { id: "new" });
  const stop = get(
    "/vms/v/actions/hard_shutdown?sync=true",
    post("operator", ""),
  );
  await whenCalled(2);
  end(true);
  t.equal((await stop).status, 204);
  const reboot = json(
    "/vms/v/actions/clean_reboot?sync=true",
    post("operator"),
    500,
  );
  await whenCalled(3);
  fail(new XapiError("VM_MISSING", ["v"]));
  t.match(await reboot, { error: "VM_MISSING(v)", info: /XenServer/ });
  t.match(calls, [
    { id: "v", name: "s" },
    { id: "v", force: true },
    { id: "v", force: false },
  ]);
});

t.test("tags are put and deleted by their name", async (t) => {
  const { options, calls } = setUp();
  const { get } = await startRestServer(t, options);
  const change = (method: string, path: string) =>
    get(path, { ...as("operator"), method });
  t.equal((await change("PUT", "/vms/v/tags/a%2Fb%20c")).status, 204);
  t.equal((await change("DELETE", "/vms/v/tags/x")).status, 204);
  t.equal((await change("PUT", "/hosts/v/tags/x")).status, 404);
  t.same(calls, [
    { operation: "tag.add", id: "v", tag: "a/b c" },
    { operation: "tag.remove", id: "v", tag: "x" },
  ]);
});

t.test("a task can be run again unless its parameters are long", async (t) => {
  const { options } = setUp();
  const { json } = await startRestServer(t, options);
  const retryOf = async (path: string, body: object) => {
    const { taskId } = (await json(
      path,
      post("admin", JSON.stringify(body)),
      202,
    )) as { taskId: string };
    const task = (await json(`/tasks/${taskId}`, as("admin"))) as {
      properties: { retry?: { params: object } };
    };
    return task.properties.retry?.params;
  };
  t.same(await retryOf("/vms/v/actions/start", { hostId: "h" }), { host: "h" });
  const long = "x".repeat(2_000);
  t.equal(await retryOf("/vms/v/actions/start", { hostId: long }), undefined);
});
