import t, { type Test } from "tap";
import { loadConfig } from "../src/config/load-config.js";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

async function setUp(t: Test, auth: object) {
  const clock = new FakeClock();
  /** What is done in intervals is not made up for. */
  const passHours = (hours: number) => {
    clock.shift(hours * HOUR_MS);
    clock.pass(MINUTE_MS);
  };
  const server = await startTestServer(t, JSON.stringify({ auth }), { clock });
  const { connect, get } = server;
  const logIn = async (
    more: object = {},
    headers: Record<string, string> = {},
  ) => {
    const answer = await get("/rest/v0/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        username: "admin",
        password: ADMIN_PASSWORD,
        ...more,
      }),
    });
    const line = answer.headers.get("set-cookie") ?? "";
    return { status: answer.status, line, cookie: line.split(";")[0]! };
  };
  const fetchTicket = async (cookie: string) =>
    get("/rest/v0/session/ticket", { method: "POST", headers: { cookie } });
  const openPage = async (cookie: string) => {
    const answer = await fetchTicket(cookie);
    const { ticket } = (await answer.json()) as { ticket: string };
    const page = await connect();
    await page.request("session.signInWithTicket", { ticket });
    return page;
  };
  const statusOf = async (headers: Record<string, string>) => {
    const answer = await get("/rest/v0/users/me", { headers });
    await answer.body?.cancel();
    return answer.status;
  };
  return {
    ...server,
    clock,
    passHours,
    logIn,
    fetchTicket,
    openPage,
    statusOf,
  };
}

t.test("an unused page is signed out", async (t) => {
  const { clock, logIn, openPage, fetchTicket, statusOf } = await setUp(t, {
    sessionIdleMinutes: 10,
  });
  const { cookie, line } = await logIn();
  t.notMatch(line, /Max-Age/, "until the browser is closed");
  const page = await openPage(cookie);
  // What the page asks for by itself is no use.
  for (let minute = 0; minute < 9; minute++) {
    clock.pass(MINUTE_MS);
    t.match(await page.call("session.getUser"), { result: {} });
    t.equal((await fetchTicket(cookie)).status, 200);
  }
  clock.pass(2 * MINUTE_MS);
  t.equal(await page.closed, 1001);
  t.equal((await fetchTicket(cookie)).status, 401);
  t.equal(await statusOf({ cookie }), 401);
  const again = await logIn({}, { cookie });
  t.equal(again.status, 200, "with the cookie that the browser still has");
  t.equal(await statusOf({ cookie: again.cookie }), 200);
});

t.test("a page that is used stays signed in", async (t) => {
  const { clock, logIn, openPage, statusOf } = await setUp(t, {
    sessionIdleMinutes: 5,
  });
  const { cookie } = await logIn();
  const page = await openPage(cookie);
  for (let i = 0; i < 10; i++) {
    clock.pass(4 * MINUTE_MS);
    t.equal(await page.request("session.keepAlive", {}), true);
  }
  clock.pass(4 * MINUTE_MS);
  t.equal(await statusOf({ cookie }), 200, "so is a request");
  clock.pass(4 * MINUTE_MS);
  t.match(await page.call("session.getUser"), { result: {} });
  clock.pass(2 * MINUTE_MS);
  await page.closed;
});

t.test("programs use their sessions by each call", async (t) => {
  const { clock, logIn, connect } = await setUp(t, { sessionIdleMinutes: 5 });
  const { cookie } = await logIn();
  const [byPassword, byToken] = [await connect(), await connect()];
  await byPassword.signIn();
  const token = cookie.slice(cookie.indexOf("=") + 1);
  await byToken.request("session.signIn", { token });
  for (let i = 0; i < 5; i++) {
    clock.pass(4 * MINUTE_MS);
    for (const client of [byPassword, byToken])
      t.match(await client.request("session.getUser"), { email: "admin" });
  }
  clock.pass(6 * MINUTE_MS);
  await Promise.all([byPassword.closed, byToken.closed]);
});

t.test("a session ends however much it is used", async (t) => {
  const { passHours, logIn, connect, openPage, statusOf } = await setUp(t, {
    sessionHours: 2,
  });
  const { cookie } = await logIn();
  const page = await openPage(cookie);
  const program = await (await connect()).signIn();
  passHours(1.9);
  await page.request("session.keepAlive", {});
  t.match(await program.request("session.getUser"), { email: "admin" });
  passHours(0.1);
  await Promise.all([page.closed, program.closed]);
  t.equal(await statusOf({ cookie }), 401);
});

t.test("a remembered session has its own lifetime", async (t) => {
  const { passHours, logIn, openPage, statusOf } = await setUp(t, {
    sessionIdleMinutes: 5,
    sessionHours: 1,
    rememberedSessionHours: 48,
  });
  const { cookie, line } = await logIn({ remember: true });
  t.match(line, /; Max-Age=172800;/);
  const page = await openPage(cookie);
  passHours(47);
  t.match(await page.request("session.getUser"), { email: "admin" });
  t.equal(await statusOf({ cookie }), 200);
  passHours(1);
  await page.closed;
  t.equal(await statusOf({ cookie }), 401);
  t.equal((await logIn({ remember: "yes" })).status, 422);
});

t.test("limits of sessions are none of tokens", async (t) => {
  const { passHours, connect, statusOf } = await setUp(t, {
    sessionIdleMinutes: 5,
    sessionHours: 1,
  });
  const admin = await (await connect()).signIn();
  const token = String(await admin.request("token.create", {}));
  passHours(100);
  t.equal(await statusOf({ authorization: `Bearer ${token}` }), 200);
});

t.test(
  "without a configuration only the age of sessions is limited",
  async (t) => {
    const { passHours, logIn, openPage } = await setUp(t, {});
    const { cookie, line } = await logIn();
    t.notMatch(line, /Max-Age/);
    t.match((await logIn({ remember: true })).line, /; Max-Age=2592000;/);
    const page = await openPage(cookie);
    passHours(719);
    t.match(await page.request("session.getUser"), { email: "admin" });
    passHours(2);
    await page.closed;
  },
);

t.test("wrong limits are refused at the start", async (t) => {
  const problemsOf = (auth: object) => {
    const home = t.testdir({ "config.yaml": JSON.stringify({ auth }) });
    try {
      loadConfig(undefined, {}, { env: {}, cwd: home, home });
      return "";
    } catch (error) {
      return (error as { data: { problems: string[] } }).data.problems.join();
    }
  };
  t.equal(problemsOf({ sessionIdleMinutes: 0 }), "");
  t.match(
    problemsOf({ sessionIdleMinutes: 4 }),
    "auth.sessionIdleMinutes must be 0 or at least 5",
  );
  t.match(problemsOf({ sessionHours: 0 }), "auth.sessionHours must be");
  t.match(problemsOf({ sessionIdleMinute: 5 }), "sessionIdleMinutes");
  t.match(
    problemsOf({ requireSecondFactor: "admin" }),
    /auth\.requireSecondFactor.*administrators/,
  );
});
