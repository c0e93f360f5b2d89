import { readdir } from "node:fs/promises";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { Demo } from "../src/pools/demo.js";
import { startTestServer, type TestClient } from "./test-server.js";

/** A simulator that starts when the test starts it. */
function fakeSimulator() {
  const started: string[][] = [];
  let stopped = 0;
  let fail: (error: Error) => void = () => undefined;
  let begin: () => void = () => undefined;
  const startDemoPools = (profiles: readonly string[]): Demo => {
    started.push([...profiles]);
    const ready = new Promise<void>((resolve, reject) => {
      begin = resolve;
      fail = reject;
    }).then(() =>
      profiles.map((label) => ({
        label,
        url: "http://127.0.0.1:1",
        user: "root",
        password: "x",
      })),
    );
    return { ready, stop: async () => ++stopped };
  };
  return {
    startDemoPools,
    started,
    begin: () => begin(),
    fail: () => fail(new Error("ended with code 1")),
    stopped: () => stopped,
  };
}

/** The call is recorded in the audit log before it begins. */
async function untilOpening(admin: TestClient): Promise<void> {
  for (;;) {
    const { demo } = (await admin.request("system.getFirstRun")) as {
      demo: string;
    };
    if (demo === "opening") return;
  }
}

t.test("an admin without pools may add some, or open the demo", async (t) => {
  const simulator = fakeSimulator();
  const { connect, pools } = await startTestServer(t, "", simulator);
  const admin = await (await connect()).signIn();
  const firstRun = () => admin.request("system.getFirstRun");
  t.same(await firstRun(), {
    pools: 0,
    servers: 0,
    canAddPools: true,
    demo: "closed",
  });
  const opening = admin.request("server.openDemo", { profiles: ["B", "C"] });
  await untilOpening(admin);
  t.match(await admin.call("server.openDemo"), { error: { code: 16 } });
  simulator.begin();
  t.same(await opening, ["b", "c"]);
  t.same(simulator.started, [["B", "C"]]);
  t.match(await firstRun(), { pools: 2, servers: 2, demo: "open" });
  t.match(await admin.request("server.getAll"), [
    { id: "b", origin: "demo" },
    { id: "c", origin: "demo" },
  ]);
  t.equal(await admin.request("server.closeDemo"), true);
  t.ok(pools.every(({ stopped }) => stopped));
  t.equal(simulator.stopped(), 1);
  t.match(await firstRun(), { pools: 0, demo: "closed" });
  t.equal(await admin.request("server.closeDemo"), false);
});

t.test("a demo that does not start can be opened again", async (t) => {
  const simulator = fakeSimulator();
  const { connect, pools, stop } = await startTestServer(t, "", simulator);
  const admin = await (await connect()).signIn();
  const opening = admin.call("server.openDemo");
  await untilOpening(admin);
  simulator.fail();
  t.match(await opening, { error: { message: /ended with code 1/ } });
  t.match(await admin.request("system.getFirstRun"), { demo: "closed" });
  const again = admin.request("server.openDemo");
  await untilOpening(admin);
  simulator.begin();
  t.same(await again, ["c"]);
  await stop();
  t.ok(pools[0]!.stopped);
  t.equal(simulator.stopped(), 2);
});

t.test("ids of simulated pools exist nowhere else", async (t) => {
  const simulator = fakeSimulator();
  const config = "pools: [{ label: c, hosts: [192.0.2.1], password: x }]";
  const { connect } = await startTestServer(t, config, simulator);
  const admin = await (await connect()).signIn();
  t.match(await admin.request("server.getAll"), [
    { id: "c", origin: "config" },
  ]);
  const opening = admin.request("server.openDemo");
  await untilOpening(admin);
  simulator.begin();
  t.same(await opening, ["c-2"]);
});

t.test("users may not, and not every program can", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  t.match(await admin.request("system.getFirstRun"), { demo: "unavailable" });
  t.match(await admin.call("server.openDemo"), {
    error: { message: /there is no simulator here/ },
  });
  await admin.request("user.create", { email: "ada", password: "ada" });
  const ada = await (await connect()).signIn("ada", "ada");
  t.match(await ada.request("system.getFirstRun"), { canAddPools: false });
  t.match(await ada.call("server.openDemo"), { error: { code: 2 } });
});

t.test("a demo with a data directory keeps its users", async (t) => {
  const demoDataDir = join(t.testdir(), "demo");
  const startDemo = async (t: Test) => {
    const { startDemoPools, begin } = fakeSimulator();
    const started = startTestServer(t, "", {
      demo: ["A"],
      demoDataDir,
      startDemoPools: (profiles) => {
        const demo = startDemoPools(profiles);
        begin();
        return demo;
      },
    });
    return started;
  };
  await t.test("first start", async (t) => {
    const { connect } = await startDemo(t);
    const admin = await (await connect()).signIn();
    await admin.request("user.create", { email: "ada", password: "secret" });
  });
  t.same(
    (await readdir(demoDataDir)).filter((name) => /db$|key$/.test(name)),
    ["demo.db", "demo.key"],
  );
  await t.test("second start", async (t) => {
    const { connect } = await startDemo(t);
    await t.resolves((await connect()).signIn("ada", "secret"));
  });
});
