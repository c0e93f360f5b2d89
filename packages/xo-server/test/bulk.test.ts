import { XapiError } from "@xo-server/model";
import { Type } from "typebox";
import t, { type Test } from "tap";
import { Bulk, type BulkPlan } from "../src/bulk/bulk.js";
import { BulkRuns } from "../src/bulk/bulk-runs.js";
import { readBulkLog, type ItemState } from "../src/bulk/bulk-log.js";
import { TurnLimiter } from "../src/bulk/turn-limiter.js";
import { bulkOperations } from "../src/methods/objects/bulk.js";
import type { Services } from "../src/methods/definition/services.js";
import { onBehalfOf } from "../src/operations/on-behalf.js";
import { defineOperation } from "../src/operations/operation.js";
import { noClient } from "../src/auth/sessions/client.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import { Rights } from "../src/rights/rights.js";
import { StepJournal } from "../src/tasks/step-journal.js";
import { Tasks } from "../src/tasks/tasks.js";
import type { TaskContext } from "../src/tasks/task-context.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeClock } from "./fake-clock.js";
import { fakeSeals } from "./fake-seals.js";
import { FakeStepStore } from "./fake-step-store.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const ada = { id: "u", isAdmin: false };
const quiet = { warn: () => undefined };
const settle = () => new Promise(setImmediate);
const subject = {
  name: "bulk",
  objectType: "bulk",
  objectId: "",
  userId: "u",
  params: {},
};
const plan: BulkPlan = {
  method: "vm.start",
  params: {},
  idParameter: "id",
  concurrency: 3,
  stopOnError: false,
};
const wait = { signal: new AbortController().signal };

function setUp(t: Test) {
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const stepStore = new FakeStepStore();
  const steps = new StepJournal({
    store: stepStore.store,
    seals: fakeSeals,
    clock,
    logger: quiet,
  });
  const tasks = new Tasks({ store, steps, clock, owner: "o", logger: quiet });
  t.teardown(() => {
    tasks.stop();
  });
  return { clock, store, stepStore, steps, tasks };
}

/** Calls that end when a test says so. */
function createCalls() {
  const open = new Map<string, (error?: Error) => void>();
  const begun: string[] = [];
  const run = (id: string, part: TaskContext) =>
    new Promise<void>((resolve, reject) => {
      begun.push(id);
      part.signal.addEventListener("abort", () => {
        reject(new Error("aborted"));
      });
      open.set(id, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  return { open, begun, run };
}

const turns = new TurnLimiter();

const many = (count: number) =>
  Array.from({ length: count }, (_, i) => `v${i}`);

async function untilSo(isSo: () => boolean): Promise<void> {
  while (!isSo()) await settle();
}

t.test("a limited number at a time, each with an end of its own", async (t) => {
  const { tasks } = setUp(t);
  const { open, begun, run } = createCalls();
  const { id, result } = await tasks.run(subject, (work) =>
    new Bulk({ plan, ids: many(5), work, run, turns }).run(),
  );
  result.catch(() => undefined);
  await untilSo(() => begun.length === 3);
  t.match(await tasks.get(id, ada), {
    counts: { total: 5, succeeded: 0, failed: 0, running: 3, waiting: 2 },
    tasks: [{ properties: { name: "vm.start v0" }, status: "pending" }],
  });
  open.get("v1")!();
  await untilSo(() => begun.length === 4);
  t.same(begun, ["v0", "v1", "v2", "v3"]);
  t.match(await tasks.get(id, ada), {
    progress: 20,
    counts: { succeeded: 1, running: 3, waiting: 1 },
  });
  open.get("v0")!(new XapiError("SR_FULL", ["1", "2"]));
  await untilSo(() => begun.length === 5);
  for (const name of ["v2", "v3", "v4"]) open.get(name)!();
  t.match(await tasks.get(id, ada, wait), {
    status: "failure",
    progress: 100,
    counts: { succeeded: 4, failed: 1, running: 0, waiting: 0 },
    result: {
      code: "SOME_FAILED",
      succeeded: 4,
      failed: [
        { id: "v0", error: { code: "SR_FULL", message: "SR_FULL(1, 2)" } },
      ],
    },
  });
});

t.test(
  "when aborted, no further item starts and running ones are notified",
  async (t) => {
    const { tasks } = setUp(t);
    const { begun, run } = createCalls();
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({ plan, ids: many(9), work, run, turns }).run(),
    );
    result.catch(() => undefined);
    await untilSo(() => begun.length === 3);
    await tasks.abort(id, ada);
    t.match(await tasks.get(id, ada, wait), {
      status: "failure",
      result: { code: "ABORTED", succeeded: 0, notBegun: 6 },
    });
    t.equal(begun.length, 3);
  },
);

t.test("with stopOnError none starts after a failure", async (t) => {
  const { tasks } = setUp(t);
  const { open, begun, run } = createCalls();
  const careful = { ...plan, stopOnError: true };
  const { id, result } = await tasks.run(subject, (work) =>
    new Bulk({ plan: careful, ids: many(9), work, run, turns }).run(),
  );
  result.catch(() => undefined);
  await untilSo(() => begun.length === 3);
  open.get("v0")!(new XapiError("SR_FULL"));
  open.get("v1")!();
  open.get("v2")!();
  t.match(await tasks.get(id, ada, wait), {
    result: { succeeded: 2, notBegun: 6, failed: [{ id: "v0" }] },
  });
  t.equal(begun.length, 3);
});

t.test(
  "ten thousand items cost little memory, and their task stays small",
  async (t) => {
    const { tasks, stepStore, store } = setUp(t);
    const wide = { ...plan, concurrency: 100, isOneCall: true };
    const run = async (id: string) => {
      await settle();
      if (id.endsWith("7")) throw new XapiError("SR_FULL", ["x".repeat(500)]);
    };
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({ plan: wide, ids: many(10_000), work, run, turns }).run(),
    );
    result.catch(() => undefined);
    const task = await tasks.get(id, ada, wait);
    t.match(task, {
      counts: { total: 10_000, succeeded: 9_000, failed: 1_000 },
      result: { succeeded: 9_000, failedLeftOut: 900 },
    });
    const parts = task?.tasks ?? [];
    t.equal(parts.length, 50);
    t.ok(
      parts.every(({ status }) => status === "failure"),
      "what succeeded is evicted first",
    );
    t.ok(JSON.stringify(store.rows.get(id)).length < 150_000);
    t.ok(stepStore.written <= 20_000, `${stepStore.written} small rows`);
    t.ok(stepStore.puts < 2_000, `${stepStore.puts} writes`);
    await settle();
    t.equal(stepStore.rows.size, 0, "none is left when it has ended");
  },
);

t.test("after a restart only unfinished items run", async (t) => {
  const { tasks } = setUp(t);
  const states = new Map<number, ItemState>([
    [0, { name: "succeeded" }],
    [1, { name: "failed", error: { message: "no" } }],
    [3, { name: "begun", part: "x.4" }],
  ]);
  const done: string[] = [];
  const { result } = await tasks.run(subject, (work) =>
    new Bulk({
      plan: { ...plan, concurrency: 1 },
      ids: many(5),
      work,
      states,
      turns,
      run: async (id) => done.push(id),
      settle: async ({ part }, { id }) => done.push(`${id} as ${part}`),
    }).run(),
  );
  await t.rejects(result, {
    code: "SOME_FAILED",
    data: { result: { succeeded: 4, failed: [{ id: "v1" }] } },
  });
  t.same(done, ["v3 as x.4", "v2", "v4"], "what was in flight first");
});

const rightsOnTagged = new Rights([
  { effect: "allow", resource: "VM", action: "read" },
  {
    effect: "allow",
    resource: "VM",
    action: "operate",
    selector: "tags:mine",
  },
]);
const person: AuthenticatedUser = {
  id: "u",
  name: "ada",
  isAdmin: false,
  groups: [],
  rights: rightsOnTagged,
};

/** Two VMs, of which the first has the tag. */
function findObject(id: string) {
  const tags = id === "b" ? [] : ["mine"];
  const json = Buffer.from(
    JSON.stringify({ id, type: "VM", name_label: `VM ${id}`, tags }),
  );
  return ["a", "b"].includes(id)
    ? { id, type: "VM", pool: "p", json }
    : undefined;
}

/** The operation itself, through the dispatcher. */
function setUpMethods(t: Test, bulkRuns = new BulkRuns()) {
  const { tasks } = setUp(t);
  const called: object[] = [];
  const one = defineOperation({
    name: "thing.do",
    summary: "",
    params: Type.Object({ id: Type.String(), how: Type.String() }),
    result: Type.Boolean(),
    permission: { action: "operate:use", resource: "VM", id: ({ id }) => id },
    changes: true,
    handler(params) {
      called.push(params);
      return true;
    },
  });
  const other = defineOperation({
    name: "thing.list",
    summary: "",
    params: Type.Object({}),
    result: Type.Boolean(),
    permission: "user",
    handler: () => true,
  });
  const users = { get: (): AuthenticatedUser | undefined => person };
  const asked: object[] = [];
  const queries = {
    page: async (request: object) => {
      asked.push(request);
      return { ids: ["a", "b"], rows: [], total: 2, revision: 1 };
    },
  };
  const operations = [one, other, ...bulkOperations];
  const services = {
    users: users as never,
    queries: queries as never,
    tasks,
    bulkRuns,
  };
  const written: string[] = [];
  const dispatcher = createTestDispatcher<Services>(operations, {
    services,
    logger: {
      ...quiet,
      debug: quiet.warn,
      info: quiet.warn,
      error: quiet.warn,
    },
    findObject,
    audit: createFakeAudit({
      check: () => undefined,
      write: async ({ operation, params, outcome }) => {
        const id = (params as { id?: string }).id ?? "";
        const how = "error" in outcome ? "failure" : "success";
        written.push(`${operation.name} ${id} ${how}`.replace("  ", " "));
      },
    }),
  });
  const call = (params: object, client = noClient) =>
    dispatcher.call("bulk.run", params, { ...onBehalfOf(person), client });
  return { call, called, written, tasks, asked, users };
}

t.test(
  "an item that is run again after a restart is looked for under its new part after the next one",
  async (t) => {
    const { tasks, steps } = setUp(t);
    const states = new Map<number, ItemState>([
      [0, { name: "begun", part: "of the first process" }],
    ]);
    const { begun, run } = createCalls();
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({
        plan: { ...plan, isOneCall: true },
        ids: many(1),
        work,
        run,
        turns,
        states,
        settle: (_, { again }) => again(),
      }).run(),
    );
    result.catch(() => undefined);
    await untilSo(() => begun.length === 1);
    for (let i = 0; i < 5; i++) await settle();
    const kept = readBulkLog(await steps.read(id)).states.get(0);
    t.match(kept, { name: "begun", part: `${id}.1` });
  },
);

t.test("each is called as its caller would call it", async (t) => {
  const { call, called, written } = setUpMethods(t);
  const params = { how: "well" };
  const answer = call({
    method: "thing.do",
    ids: ["a", "b", "c", "a"],
    params,
    sync: true,
  });
  await t.rejects(answer, {
    code: "SOME_FAILED",
    message: /^thing.do: 2 of 3 failed: VM b: .*; c: no such VM c/,
    data: {
      result: {
        succeeded: 1,
        failed: [
          { id: "b", name: "VM b", error: { code: "FORBIDDEN" } },
          { id: "c", error: { code: "NO_SUCH_OBJECT" } },
        ],
      },
    },
  });
  t.same(called, [{ id: "a", how: "well" }]);
  t.same(written, ["thing.do a success", "bulk.run failure"]);
});

t.test(
  "the response is a task; a filter is evaluated once, within rights",
  async (t) => {
    const { call, tasks, asked } = setUpMethods(t);
    const { taskId } = (await call({
      method: "thing.do",
      filter: "tags:x",
      params: { how: "" },
    })) as { taskId: string };
    t.match(await tasks.get(taskId, ada, wait), {
      status: "failure",
      counts: { total: 2, succeeded: 1, failed: 1 },
    });
    t.match(asked, [{ type: "VM", filter: "tags:x", limit: 10_000 }]);
    t.equal(asked.length, 1);
  },
);

t.test(
  "operations that cannot run on many objects are refused immediately",
  async (t) => {
    const { call, called } = setUpMethods(t);
    const ids = ["a"];
    const method = "thing.do";
    for (const params of [
      { method: "thing.list", ids },
      { method: "bulk.run", ids },
      { method: "nothing", ids },
      { method },
      { method, ids, filter: "x" },
      { method, ids: [] },
      { method, ids, concurrency: 101 },
      { method, ids, idParameter: "no" },
      { method, ids, params: { id: "b" } },
      { method, ids: many(10_001) },
    ])
      await t.rejects(call(params), { code: "INVALID_PARAMETERS" });
    t.same(called, []);
  },
);

t.test("a disconnected user does nothing more", async (t) => {
  const { call, called, users } = setUpMethods(t);
  users.get = () => undefined;
  const answer = call({
    method: "thing.do",
    ids: ["a"],
    params: { how: "" },
    sync: true,
  });
  await t.rejects(answer, { code: "UNAUTHORIZED" });
  t.same(called, []);
});

t.test("a caller without the right cannot store anything", async (t) => {
  const { call, called, tasks } = setUpMethods(t);
  const params = { how: "" };
  await t.rejects(call({ method: "thing.do", ids: ["c", "d"], params }), {
    code: "NO_SUCH_OBJECT",
    data: { id: "c" },
  });
  await t.rejects(call({ method: "thing.do", ids: ["b"], params }), {
    code: "FORBIDDEN",
  });
  for await (const page of tasks.list(ada)) t.same(page, []);
  t.same(called, []);
});

t.test("few items start in one turn of the event loop", async (t) => {
  const perTurn: number[] = [];
  let started = 0;
  const bulkRuns = new BulkRuns({
    perTurn: 16,
    nextTurn: (callback) =>
      setImmediate(() => {
        perTurn.push(started);
        started = 0;
        callback();
      }),
  });
  const { call, users } = setUpMethods(t, bulkRuns);
  const { get } = users;
  // Looked up for each check of rights and each call.
  users.get = () => {
    started++;
    return get();
  };
  const ids = many(5_000);
  const request = { method: "thing.do", params: { how: "" }, sync: true };
  const [none, some] = await Promise.allSettled([
    call({ ...request, ids, concurrency: 100 }),
    call({ ...request, ids: ["a", ...ids], concurrency: 100 }),
  ]);
  t.match(none, { reason: { code: "NO_SUCH_OBJECT" } });
  t.match(some, { reason: { data: { result: { succeeded: 1 } } } });
  t.ok(perTurn.length > 300, `${perTurn.length} turns`);
  const most = Math.max(...perTurn);
  t.ok(most <= 3 * 16, `${most} checks in one turn`);
});

t.test("a user runs ten bulk tasks at a time", async (t) => {
  const { call } = setUpMethods(t);
  const request = { method: "thing.do", ids: ["a"], params: { how: "" } };
  const client = { ...noClient };
  const answers = await Promise.allSettled(
    many(12).map(() => call(request, client)),
  );
  const refused = answers.filter(({ status }) => status === "rejected");
  t.equal(refused.length, 2);
  t.match(refused[0], { reason: { code: "QUEUE_FULL" } });
  await settle();
  await settle();
  await t.resolves(call({ ...request, sync: true }, client));
});
