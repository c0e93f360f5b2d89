import t, { type Test } from "tap";
import type { Catalog } from "@xo-server/inventory";
import { balancerOperations } from "../../src/methods/placement/balancer.js";
import { noClient } from "../../src/auth/sessions/client.js";
import type { CallContext } from "../../src/operations/operation.js";
import { Rights } from "../../src/rights/rights.js";
import { MiniCatalog } from "../mini-catalog.js";
import { BalancerBench, MINUTE, POOL } from "./balancer-bench.js";
import { createTestDispatcher } from "../test-dispatcher.js";

function toContext(name: string, actions: Record<string, string>): CallContext {
  const privileges = Object.entries(actions).map(([resource, action]) => ({
    effect: "allow" as const,
    resource,
    action,
  }));
  const person = {
    id: name,
    name,
    isAdmin: false,
    groups: [],
    rights: new Rights(privileges),
  };
  return {
    user: person,
    permission: "user",
    client: noClient,
    address: "here",
  };
}

const operator = toContext("ada", { pool: "*", VM: "*" });
/** Sees the pool, and no VM. */
const reader = toContext("eve", { pool: "read" });

async function setUp(t: Test) {
  const bench = await BalancerBench.create(t);
  bench.pool.addHosts("a", "b");
  bench.pool.addVm("x", "a");
  bench.requests = [["x", "b"]];
  const objects = new MiniCatalog("pool", "VM");
  objects.put(
    { id: POOL, type: "pool", name_label: "production" },
    { id: "other", type: "pool", name_label: "other" },
    { id: "x", type: "VM" },
  );
  const catalog: Catalog = objects.catalog;
  const server = await bench.start();
  const quiet = () => undefined;
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  const dispatcher = createTestDispatcher(balancerOperations, {
    services: { balancer: server.balancer, catalog },
    logger,
    findObject: (id) => catalog.get(id),
  });
  const call = (name: string, params: object, context = operator) =>
    dispatcher.call(`balancer.${name}`, { pool: POOL, ...params }, context);
  return { bench, server, call, dispatcher };
}

t.test("a policy is read and set, absent properties stay", async (t) => {
  const { call } = await setUp(t);
  t.match(await call("getPolicy", {}, reader), {
    pool: POOL,
    isSet: false,
    mode: "off",
    cpuHigh: 0.85,
    maxMigrationsPerRun: 5,
  });
  await t.rejects(call("setPolicy", { mode: "automatic" }, reader), {
    code: "FORBIDDEN",
  });
  await call("setPolicy", { mode: "dry-run", excludedTags: ["stay"] });
  t.match(await call("setPolicy", { cpuHigh: 0.8 }), {
    isSet: true,
    mode: "dry-run",
    cpuHigh: 0.8,
    excludedTags: ["stay"],
  });
  for (const wrong of [
    { mode: "on" },
    { cpuHigh: 1.1 },
    { cpuHigh: 0.6 },
    { parallel: 0 },
    { intervalSeconds: 1 },
    { nothing: 1 },
    // Names of release 0.1.
    { moveCost: 0.1 },
    { goal: "density" },
  ])
    await t.rejects(call("setPolicy", wrong), { code: "INVALID_PARAMETERS" });
});

t.test("states have a reason and a time", async (t) => {
  const { bench, call, dispatcher } = await setUp(t);
  t.match(await call("getState", {}), { state: "off", elsewhere: false });
  await call("setPolicy", { mode: "automatic" });
  await bench.pass(0);
  const holding = {
    pool: POOL,
    name: "production",
    state: "pending",
    reason: { code: "imbalance", moves: 1, until: Number },
    next: bench.clock.now() + MINUTE,
    policy: { mode: "automatic" },
  };
  t.match(await call("getState", {}, reader), holding);
  const all = await dispatcher.call("balancer.getAll", {}, reader);
  t.match(all, [holding, { pool: "other", state: "off" }]);
  bench.pool.hosts.get("b")!.measuredAt = 0;
  await bench.pass(MINUTE);
  t.match(await call("getState", {}), {
    state: "paused",
    reason: { code: "no-statistics", hosts: ["b"] },
  });
});

t.test(
  "it is run manually by users with the right, and reported as far as they may read",
  async (t) => {
    const { bench, call } = await setUp(t);
    await t.rejects(call("run", {}, reader), { code: "FORBIDDEN" });
    const dry = { status: "dry-run", moves: [{ vm: "x", status: "planned" }] };
    t.match(await call("run", { dryRun: true }), dry);
    t.equal(bench.pool.hostOf("x"), "a");
    bench.clock.pass(1);
    const done = { status: "success", moves: [{ vm: "x", status: "done" }] };
    t.match(await call("run", {}), { ...done, hidden: 0, taskId: String });
    t.equal(bench.pool.hostOf("x"), "b");
    t.match(await call("getHistory", {}), { runs: [done, dry] });
    t.match(await call("getHistory", { limit: 1 }, reader), {
      runs: [{ status: "success", moves: [], hidden: 1 }],
      cursor: String,
    });
  },
);

t.test("a run that fails is reported", async (t) => {
  const { bench, call } = await setUp(t);
  bench.pool.stubborn.add("x");
  await t.rejects(call("run", {}), { code: "STOPPED_MIDWAY" });
});

t.test("a notification requires an administrator", async (t) => {
  const { bench, call, server } = await setUp(t);
  bench.pool.stubborn.add("x");
  await server.setKeen({ coolDownSeconds: 0 });
  await bench.pass(20 * MINUTE);
  t.match(await call("getState", {}), {
    state: "back-off",
    notice: /3 consecutive runs failed/,
    reason: { code: "gave-up", failures: 3 },
  });
});
