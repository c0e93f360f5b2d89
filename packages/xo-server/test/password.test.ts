import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

t.test("a new password ends existing sessions", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const mine = await (await connect()).signIn();
  const other = await (await connect()).signIn();
  const token = await mine.request("token.create", {});
  const passwords = { oldPassword: "wrong", newPassword: "battery staple" };
  t.match(await mine.call("user.changePassword", passwords), {
    error: { code: 3 },
  });
  clock.pass(2000);
  t.equal(
    await mine.request("user.changePassword", {
      ...passwords,
      oldPassword: ADMIN_PASSWORD,
    }),
    true,
  );
  t.equal(await other.closed, 1001);
  const client = await connect();
  t.match(await client.call("session.signIn", { token }), {
    error: { code: 3 },
  });
  t.match(await client.signIn("admin", "battery staple"), {});
  t.match(await mine.request("session.getUser"), { email: "admin" });
});

t.test("an admin sets another's password", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("user.create", {
    email: "ada",
    password: "one",
  });
  const ada = await (await connect()).signIn("ada", "one");
  t.equal(await admin.request("user.set", { id, password: "two" }), true);
  t.equal(await ada.closed, 1001);
  await t.resolves((await connect()).signIn("ada", "two"));
});
