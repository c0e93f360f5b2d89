import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

t.test("a name, an e-mail or a token signs in", async (t) => {
  const { connect } = await startTestServer(t);
  const client = await connect();
  const user = {
    email: "admin",
    permission: "admin",
    groups: [],
    preferences: {},
  };
  for (const params of [
    { email: "admin", password: ADMIN_PASSWORD },
    { username: "admin", password: ADMIN_PASSWORD, rememberMe: true },
  ])
    t.match(await client.request("session.signIn", params), user);
  const token = await client.request("token.create", {});
  t.match(token, /^[\w-]{43}$/);
  const other = await connect();
  t.match(await other.request("session.signIn", { token }), user);
  t.match(await other.request("session.getUser", { dummy: "dummy" }), user);
  t.match(await other.request("session.signInWithToken", { token }), user);
  t.match(
    await other.request("session.signInWithPassword", {
      email: "admin",
      password: ADMIN_PASSWORD,
    }),
    user,
  );
});

t.test("signed out: code 2 but for a few methods; wrong: code 3", async (t) => {
  const { connect } = await startTestServer(t);
  const client = await connect();
  t.match(await client.call("user.getAll"), { error: { code: 2 } });
  t.match(await client.call("token.create", {}), { error: { code: 2 } });
  t.match(await client.call("session.getUser"), { error: { code: -32000 } });
  t.type(await client.request("system.getServerVersion"), "string");
  t.match(await client.call("session.signIn", { token: "no" }), {
    error: { code: 3, message: "invalid credentials" },
  });
  t.match(await client.call("session.signIn", { email: "admin" }), {
    error: { code: 3 },
  });
  await client.signIn();
  t.equal(await client.request("session.signOut"), true);
  t.match(await client.call("user.getAll"), { error: { code: 2 } });
});

t.test(
  "after a failed attempt the user is throttled, for all clients",
  async (t) => {
    const clock = new FakeClock();
    const { connect } = await startTestServer(t, "", { clock });
    const [client, other] = [await connect(), await connect()];
    const right = { email: "admin", password: ADMIN_PASSWORD };
    const wrong = { email: "admin", password: "wrong" };
    const code3 = { error: { code: 3 } };
    t.match(await client.call("session.signIn", wrong), code3);
    t.match(await other.call("session.signIn", right), {
      error: {
        code: -32000,
        message: /too many failed sign-in attempts.*try again in 2 s/,
        data: { code: "SIGN_IN_THROTTLED", retryAfterMs: 2000 },
      },
    });
    clock.pass(2000);
    t.match(await other.call("session.signIn", wrong), code3);
    clock.pass(2000);
    t.match(
      await other.call("session.signIn", right),
      { error: { data: { code: "SIGN_IN_THROTTLED", retryAfterMs: 2000 } } },
      "twice as long",
    );
    clock.pass(2000);
    t.match(await other.call("session.signIn", right), { result: {} });
  },
);

t.test("concurrent guesses count as one", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const client = await connect();
  const answers = await Promise.all(
    ["one", "two", "three", ADMIN_PASSWORD].map((password) =>
      client.call("session.signIn", { email: "admin", password }),
    ),
  );
  const codes = answers.map(({ error }) => error?.code);
  t.same(codes, [3, -32000, -32000, -32000], "one is verified");
});

t.test("a client has one token, which is prolonged", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const client = await (await connect()).signIn();
  const requested = {
    client: { id: "cli" },
    description: "xo-cli",
    expiresIn: "1 hour",
  };
  const token = await client.request("token.create", requested);
  clock.pass(60_000);
  t.equal(await client.request("token.create", requested), token);
  t.match(await client.request("user.getAuthenticationTokens"), [
    {
      client: { id: "cli" },
      description: "xo-cli",
      expiration: clock.now() + 3_600_000,
    },
  ]);
  for (const expiresIn of [59_000, "1 year", "soon"])
    t.match(await client.call("token.create", { expiresIn }), {
      error: { code: 10 },
    });
});

t.test("the token of the session is marked in the list", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const token = await admin.request("token.create", { description: "own" });
  await admin.request("token.create", { description: "other" });
  const client = await connect();
  await client.request("session.signIn", { token });
  const marked = async (from: typeof client) =>
    (
      (await from.request("user.getAuthenticationTokens")) as {
        description: string;
        isCurrent?: boolean;
      }[]
    ).flatMap(({ description, isCurrent }) => (isCurrent ? description : []));
  t.same(await marked(client), ["own"]);
  t.same(await marked(admin), [], "signed in by a password");
});

t.test("the next message after its expiry closes the socket", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const admin = await (await connect()).signIn();
  const token = await admin.request("token.create", { expiresIn: 60_000 });
  const client = await connect();
  await client.request("session.signIn", { token });
  clock.pass(59_000);
  t.match(await client.request("session.getUser"), { email: "admin" });
  clock.pass(1_000);
  const received = client.messages.length;
  void client.call("session.getUser");
  t.type(await client.closed, "number");
  t.equal(client.messages.length, received, "no answer");
});

t.test("deletion of a token closes its connections", async (t) => {
  const { connect } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const keep = await admin.request("token.create", { description: "keep" });
  const token = await admin.request("token.create", { description: "drop" });
  const client = await connect();
  await client.request("session.signIn", { token });
  t.equal(await admin.request("token.deleteOwn", { tokens: [token] }), true);
  t.equal(await client.closed, 1001);
  t.equal(
    await admin.request("token.delete", { pattern: { description: "none" } }),
    true,
  );
  t.equal(await admin.request("token.delete", {}), true, "nothing is not all");
  t.match(
    await (await connect()).request("session.signIn", { token: keep }),
    {},
  );
  await admin.request("token.delete", { pattern: { description: "keep" } });
  t.same(await admin.request("user.getAuthenticationTokens"), []);
});

t.test("tokens that have run out are deleted", async (t) => {
  const clock = new FakeClock();
  const { connect } = await startTestServer(t, "", { clock });
  const admin = await (await connect()).signIn();
  await admin.request("token.create", { expiresIn: "1 hour" });
  await admin.request("token.create", { expiresIn: "2 days" });
  clock.pass(3_600_000);
  const list = async () =>
    (await admin.request("user.getAuthenticationTokens")) as unknown[];
  while ((await list()).length > 1);
  t.equal((await list()).length, 1);
});

t.test("failed attempts of others do not lock out known clients", async (t) => {
  const clock = new FakeClock();
  const yaml = "http: { trustedProxies: [127.0.0.1] }";
  const { get } = await startTestServer(t, yaml, { clock });
  const signIn = async (address: string, password: string, name = "admin") => {
    const answer = await get("/rest/v0/users/me", {
      headers: {
        authorization: `Basic ${btoa(`${name}:${password}`)}`,
        "x-forwarded-for": address,
      },
      redirect: "manual",
    });
    await answer.text();
    return answer.status;
  };
  t.notOk([401, 429].includes(await signIn("192.0.2.1", ADMIN_PASSWORD)));
  const guesses: number[] = [];
  for (let i = 0; i < 5; i++) {
    guesses.push(await signIn(`198.51.100.${i}`, "guess"));
    clock.pass(100);
  }
  t.same(guesses, [401, 429, 429, 429, 429]);
  t.equal(await signIn("203.0.113.1", ADMIN_PASSWORD), 429, "a new address");
  t.notOk([401, 429].includes(await signIn("192.0.2.1", ADMIN_PASSWORD)));
  const names = Array.from({ length: 102 }, (_, i) => `nobody${i}`);
  const flood = names.map((name) => signIn("198.51.100.9", "guess", name));
  clock.pass(61_000);
  t.not(await signIn("203.0.113.7", ADMIN_PASSWORD), 429, "not behind a flood");
  t.notOk((await Promise.all(flood)).some((status) => status === 200));
});
