import t from "tap";
import { TestClient } from "./support/raw-client.js";
import { OTHER_HOST, POOL, tinyPool } from "./support/tiny-pool.js";

t.test("a member names the coordinator for every call", async (t) => {
  const { pool, client } = await tinyPool(t, { members: 1 });
  const member = new TestClient(pool.urls[1]!);
  const address = new URL(pool.url).hostname;
  await t.rejects(member.logIn(), { message: `HOST_IS_SLAVE ${address}` });
  await t.rejects(member.send("VM.get_all", [client.session]), {
    message: `HOST_IS_SLAVE ${address}`,
  });
  const local = await member.send("session.slave_local_login_with_password", [
    "root",
    "password",
  ]);
  t.equal(
    await member.send("pool.is_slave", [local, ""]).catch(() => true),
    true,
  );
});

t.test(
  "a new coordinator takes over: sessions end, roles are swapped",
  async (t) => {
    const { pool, client } = await tinyPool(t, { members: 1 });
    await client.call("pool.designate_new_master", OTHER_HOST);
    await t.rejects(client.logIn(), { message: /^HOST_IS_SLAVE / });
    const next = await new TestClient(pool.urls[1]!).logIn();
    t.equal(await next.call("pool.get_master", POOL), OTHER_HOST);
  },
);

t.test(
  "a silent coordinator takes requests and never answers; a member can be promoted",
  async (t) => {
    const { pool, client } = await tinyPool(t, { members: 1 });
    pool.faults.set("silent", true);
    let answered = false;
    void client.call("VM.get_all").then(
      () => (answered = true),
      () => undefined,
    );
    pool.promote();
    const next = await new TestClient(pool.urls[1]!).logIn();
    await next.call("VM.get_all");
    t.notOk(answered);
  },
);

t.test(
  "XAPI that is started again ends sessions, no longer reports deletions and records the time",
  async (t) => {
    const { pool, client } = await tinyPool(t);
    const startOf = async () => {
      const master = (await client.call("pool.get_master", POOL)) as string;
      const config = await client.call("host.get_other_config", master);
      return Number(
        (config as Record<string, string>)["agent_start_time"] ?? 0,
      );
    };
    const before = await startOf();
    const vm = await client.call("VM.get_all");
    const token = await client.call("event.inject", "pool", POOL);
    pool.database.destroy("VM", (vm as string[])[0]!);
    pool.restartXapi();
    await t.rejects(client.call("VM.get_all"), { message: /^SESSION_INVALID/ });
    await client.logIn();
    const started = await startOf();
    t.ok(started > before);
    pool.restartXapi();
    await client.logIn();
    t.ok((await startOf()) > started, "even within a second");
    const { events } = (await client.call("event.from", ["VM"], token, 0)) as {
      events: readonly object[];
    };
    t.same(events, []);
  },
);
