import { Type } from "typebox";
import t, { type Test } from "tap";
import { BulkRuns } from "../src/bulk/bulk-runs.js";
import { bulkOperations } from "../src/methods/objects/bulk.js";
import type { Services } from "../src/methods/definition/services.js";
import { onBehalfOf } from "../src/operations/on-behalf.js";
import { defineOperation } from "../src/operations/operation.js";
import { noClient } from "../src/auth/sessions/client.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import { Rights } from "../src/rights/rights.js";
import { createFakeAudit } from "./fake-audit.js";
import { createTestDispatcher } from "./test-dispatcher.js";
import { setUp, quiet, many, settle, ada, wait } from "./bulk-calls.js";

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
    params: Type.Object({
      id: Type.String(),
      how: Type.String(),
      password: Type.Optional(Type.String()),
    }),
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
  "the task has the parameters that are needed to repeat it, except secrets",
  async (t) => {
    const { call, tasks } = setUpMethods(t);
    const paramsOf = async (params: object) => {
      const request = { method: "thing.do", ids: ["a"], params };
      const { taskId } = (await call(request)) as { taskId: string };
      const { properties } = (await tasks.get(taskId, ada, wait))!;
      return (properties as { readonly params: object }).params;
    };
    const params = { how: "well" };
    const expected = {
      method: "thing.do",
      idParameter: "id",
      count: 1,
      params,
    };
    t.same(await paramsOf(params), expected);
    t.match(await paramsOf({ ...params, password: "x" }), {
      params: { how: "well" },
      isIncomplete: true,
    });
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
