import t, { type Test } from "tap";
import type { PoolStatus, Status } from "../src/status/status.js";
import { readersOf } from "../src/status/visible-status.js";
import { FakePool } from "./fake-pool.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const TWO_POOLS =
  "pools: [{ label: Paris, hosts: [paris.test], password: x }, { label: Rome, hosts: [rome.test], password: y }]";
const SECRETS = ["Paris", "paris", "Rome", "rome.test", "refused by"];

async function setUp(t: Test) {
  const server = await startTestServer(t, TWO_POOLS);
  const error = { code: "TLS_UNTRUSTED", message: "refused by paris.test" };
  server.pools[0]!.become({ pool: "uuid-1", state: "failed", error });
  server.pools[1]!.become({ pool: "uuid-2", state: "watching", objects: 3 });
  return server;
}

t.test("anonymous clients read nothing of pools", async (t) => {
  const { connect } = await setUp(t);
  const client = await connect();
  for (const method of ["system.getStatus", "status.subscribe"]) {
    const { result } = await client.call(method);
    const { status = result } = result as { status?: unknown };
    t.same(Object.keys((status as { server: object }).server).sort(), [
      "demo",
      "version",
    ]);
    t.match(status, { pools: {}, totals: { pools: 0, objects: 0 } });
    const text = JSON.stringify(result);
    for (const secret of SECRETS) t.notMatch(text, secret, method);
  }
  t.match(await client.call("pool.listStatus"), { error: { code: 2 } });
});

t.test("users without rights read whether pools are connected", async (t) => {
  const { connect } = await setUp(t);
  const admin = await (await connect()).signIn();
  const password = ADMIN_PASSWORD;
  await admin.call("user.create", { email: "nobody", password });
  const user = await (await connect()).signIn("nobody", password);
  const { result } = await user.call("system.getStatus");
  t.match(result, {
    server: { node: process.version },
    pools: {
      "uuid-1": { state: "failed", error: null, label: "", address: "" },
      "uuid-2": { state: "watching", isRestricted: true, objects: 0 },
    },
    totals: { pools: 0, objects: 0 },
  });
  for (const secret of SECRETS) t.notMatch(JSON.stringify(result), secret);
  t.match(await user.call("pool.listStatus"), { result: [] });
});

t.test("a subscriber that signs in gets the status it may read", async (t) => {
  const { connect } = await setUp(t);
  const client = await connect();
  await client.call("status.subscribe");
  await client.signIn();
  const { params } = await client.find(({ method }) => method === "status");
  t.match(params, {
    status: {
      pools: { paris: { error: { code: "TLS_UNTRUSTED" } }, rome: {} },
    },
  });
});

t.test("a pool that the user may read is shown whole", async (t) => {
  const [paris, rome] = ["paris", "rome"].map((id) => {
    const pool = new FakePool({ id, label: id, hosts: [id] } as never);
    pool.become({ pool: `uuid of ${id}`, objects: 2, counts: { VM: 2 } });
    return pool.status();
  }) as [PoolStatus, PoolStatus];
  const status = { server: {}, pools: { paris, rome } } as unknown as Status;
  const { pools, totals } = readersOf(["uuid of rome"]).show(status);
  t.same(pools["rome"], rome);
  t.same(Object.keys(pools), ["rome", "uuid of paris"]);
  t.same(totals.counts, { VM: 2 });
});
