import t, { type Test } from "tap";
import { toPoolSettings } from "../src/pools/pool-settings.js";
import { createPools } from "../src/pools/pools.js";
import { loadConfig } from "../src/config/load-config.js";
import { createLoggers } from "../src/log/logger.js";
import { FakeClock } from "./fake-clock.js";
import { FakePool } from "./fake-pool.js";

interface FakeState {
  readonly name: "disconnected" | "connecting";
}

/** A connection that has not begun yet. */
class FakeXapi {
  state: FakeState = { name: "disconnected" };
  readonly #listeners = new Set<(state: FakeState) => void>();

  onState(listener: (state: FakeState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  connect(): void {
    this.state = { name: "connecting" };
    for (const listener of this.#listeners) listener(this.state);
  }
}

/** One pool, `p`, whose snapshot is being read. */
function setUpStarting(t: Test) {
  const home = t.testdir({
    "config.yaml": "pools: [{ label: p, hosts: [p.example], password: x }]",
  });
  const { config } = loadConfig(undefined, {}, { env: {}, cwd: home, home });
  const clock = new FakeClock();
  const xapi = new FakeXapi();
  const pools = createPools({
    createPool: async (settings) =>
      Object.assign(new FakePool(settings), { xapi: xapi as never }),
    clock,
    logger: createLoggers({ level: "silent" }).named("x"),
  });
  pools.connect(toPoolSettings(config.pools));
  const { id } = pools.list()[0]!;
  return { clock, xapi, pools, id };
}

t.test("a call waits until its pool is being connected", async (t) => {
  const { xapi, pools, id } = setUpStarting(t);
  t.equal(
    pools.untilConnecting(() => new Set(["other"])),
    undefined,
  );
  let hasWaited = false;
  const waiting = pools.untilConnecting(() => new Set([id]))!;
  void waiting.then(() => (hasWaited = true));
  await pools.created();
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(hasWaited);
  xapi.connect();
  await waiting;
  await new Promise((resolve) => setImmediate(resolve));
  const fail = () => t.fail("nothing is looked for") as never;
  t.equal(pools.untilConnecting(fail), undefined);
});

t.test("a call waits no longer than 5 s for its pool", async (t) => {
  const { clock, pools, id } = setUpStarting(t);
  await pools.created();
  const waiting = pools.untilConnecting(() => new Set([id]))!;
  let hasWaited = false;
  void waiting.then(() => (hasWaited = true));
  clock.pass(4_999);
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(hasWaited);
  clock.pass(1);
  await waiting;
});

t.test(
  "many pools are opened a few at a time, and named together",
  async (t) => {
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`);
    const lines = names.map(
      (n) => `{ label: ${n}, hosts: [${n}.example], password: x }`,
    );
    const home = t.testdir({ "config.yaml": `pools: [${lines.join(", ")}]` });
    const { config } = loadConfig(undefined, {}, { env: {}, cwd: home, home });
    let created = 0;
    const pools = createPools({
      createPool: async (settings) => {
        created++;
        return new FakePool(settings);
      },
      clock: new FakeClock(),
      logger: createLoggers({ level: "silent" }).named("x"),
    });
    pools.connect(toPoolSettings(config.pools));
    t.ok(created > 0 && created < names.length, `${created} in the first turn`);
    t.same(
      pools.list().map(({ label }) => label),
      names,
    );
    const first = created;
    await new Promise((resolve) => setImmediate(resolve));
    t.ok(created - first <= first, "no more in the next");
    while (created < names.length)
      await new Promise((resolve) => setImmediate(resolve));
    await pools.stop();
  },
);
