import t from "tap";
import type { PoolSettings } from "../src/pools/pool-settings.js";
import { FakePool } from "./fake-pool.js";
import { startTestServer } from "./test-server.js";

const yaml = `
auth: { minPasswordLength: 12 }
pools: [{ label: Paris, hosts: [192.0.2.1], password: x }]
`;

t.test(
  "the first administrator is created while pools are connected, and before clients are accepted",
  async (t) => {
    const pools: FakePool[] = [];
    const createPool = async (settings: PoolSettings) => {
      const pool = new FakePool(settings);
      pools.push(pool);
      return pool;
    };
    const start = startTestServer(t, yaml, {
      env: { XO_ADMIN_PASSWORD: "short" },
      createPool,
    });
    await t.rejects(
      start,
      { code: "CONFIG_INVALID", data: { where: "$XO_ADMIN_PASSWORD" } },
      "the failure is noticed before the server listens",
    );
    t.equal(pools.length, 1, "pools did not wait for it");
  },
);

t.test("a client can sign in as soon as the server listens", async (t) => {
  const { connect, lines } = await startTestServer(t, "");
  await (await connect()).signIn();
  const indexOf = (text: string) =>
    lines.findIndex((line) => line.includes(text));
  t.ok(indexOf('Initial admin user "admin" created') >= 0);
  t.ok(
    indexOf('Initial admin user "admin" created') <
      indexOf("Web server listening"),
  );
});
