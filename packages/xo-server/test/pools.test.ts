import t from "tap";
import { toPoolSettings } from "../src/pools/pool-settings.js";
import { createPools } from "../src/pools/pools.js";
import { loadConfig } from "../src/config/load-config.js";
import { createLoggers } from "../src/log/logger.js";
import { FakeClock } from "./fake-clock.js";
import { FakePool } from "./fake-pool.js";

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
