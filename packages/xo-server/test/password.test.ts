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

t.test(
  "tokens that are requested while the password changes are not valid",
  async (t) => {
    const { connect } = await startTestServer(t);
    const admin = await (await connect()).signIn();
    const id = await admin.request("user.create", {
      email: "ada",
      password: "old password",
    });
    const ada = await (await connect()).signIn("ada", "old password");
    let isClosed = false;
    void ada.closed.then(() => (isClosed = true));
    // Always some that wait for the database.
    const request = async () => {
      while (!isClosed)
        await Promise.race([ada.call("token.create", {}), ada.closed]);
    };
    const requests = Array.from({ length: 50 }, request);
    await ada.find(({ result }) => typeof result === "string");
    await admin.request("user.set", { id, password: "new password" });
    await Promise.all(requests);
    const tokens = ada.messages.flatMap(({ result }) =>
      typeof result === "string" ? [result] : [],
    );
    t.ok(tokens.length > 0);
    const other = await connect();
    const valid = [];
    for (const token of tokens)
      if ((await other.call("session.signIn", { token })).error === undefined)
        valid.push(token);
    t.equal(valid.length, 0, `${tokens.length} tokens were created`);
  },
);

t.test("who changes a password can create tokens afterwards", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const change = { oldPassword: ADMIN_PASSWORD, newPassword: "another one" };
  await admin.request("user.changePassword", change);
  const token = await admin.request("token.create", {});
  const other = await connect();
  await t.resolves(other.request("session.signIn", { token }));
});
