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
