import type { CatalogEntry } from "@xo-server/inventory";
import t from "tap";
import { Type } from "typebox";
import { CatchUp } from "../src/objects/catch-up.js";
import { defineOperation } from "../src/operations/operation.js";
import { FakeClient } from "./fake-client.js";
import { FakeClock } from "./fake-clock.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const context = {
  permission: "guest",
  client: new FakeClient(),
  address: "192.0.2.7",
} as const;

/** Objects whose ids begin with the name of their pool. */
function findObject(id: string): CatalogEntry | undefined {
  const [, pool] = /^(p\d)-/.exec(id) ?? [];
  return pool === undefined
    ? undefined
    : { id, type: "VM", pool, json: Buffer.from("{}") };
}

function setUp(caughtUp: (pool: string) => Promise<void>) {
  const names: string[] = [];
  const clock = new FakeClock();
  const drop = () => undefined;
  const logger = { debug: drop, info: drop, warn: drop, error: drop };
  const catchUp = new CatchUp({
    inventory: {
      catchUp: (pool) => {
        names.push(pool);
        return caughtUp(pool);
      },
    },
    catalog: {
      settled: async () => void names.push("settled"),
    },
    clock,
    logger,
  });
  const declare = (name: string, changes: boolean) =>
    defineOperation({
      name,
      summary: "Does it.",
      params: Type.Object({
        id: Type.String(),
        others: Type.Optional(Type.Array(Type.String())),
      }),
      result: Type.Boolean(),
      permission: "guest",
      changes,
      handler: () => {
        names.push(name);
        if (name === "vm.fail") throw new Error("it failed");
        return true;
      },
    });
  const operations = [
    declare("vm.change", true),
    declare("vm.fail", true),
    declare("vm.read", false),
  ];
  const dispatcher = createTestDispatcher(operations, {
    logger,
    findObject,
    catchUp: (pools) => catchUp.with(pools),
  });
  const call = (name: string, params: object) =>
    dispatcher.call(name, params, context);
  return { names, clock, call };
}

t.test("a change is answered when it can be read", async (t) => {
  let release: () => void = () => undefined;
  const { names, call } = setUp(
    () => new Promise<void>((resolve) => (release = resolve)),
  );
  let isAnswered = false;
  const answer = call("vm.change", { id: "p1-a" }).then((result) => {
    isAnswered = true;
    return result;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.same(names, ["vm.change", "p1"]);
  t.notOk(isAnswered);
  release();
  t.equal(await answer, true);
  t.same(names, ["vm.change", "p1", "settled"]);
});

t.test("each pool that parameters name is waited for once", async (t) => {
  const { names, call } = setUp(async () => undefined);
  await call("vm.change", { id: "p1-a", others: ["p2-b", "p1-c", "no id"] });
  t.same(names, ["vm.change", "p1", "p2", "settled"]);
});

t.test("callers that changed nothing of a pool do not wait", async (t) => {
  const { names, call } = setUp(async () => undefined);
  await call("vm.read", { id: "p1-a" });
  await call("vm.change", { id: "user" });
  await t.rejects(call("vm.fail", { id: "p1-a" }), { code: "INTERNAL" });
  t.same(names, ["vm.read", "vm.change", "vm.fail"]);
});

t.test("a slow or disconnected pool delays no caller for long", async (t) => {
  const gone = setUp(() => Promise.reject(new Error("not connected")));
  t.equal(await gone.call("vm.change", { id: "p1-a" }), true);
  t.equal(gone.clock.waiting, 0);
  const behind = setUp(() => new Promise(() => undefined));
  const answer = behind.call("vm.change", { id: "p1-a" });
  await new Promise((resolve) => setImmediate(resolve));
  behind.clock.pass(5_000);
  t.equal(await answer, true);
});
