import t from "tap";
import { FakeClock } from "./fake-clock.js";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

/** A server, and what a browser does on it. */
async function setUp(t: Parameters<typeof startTestServer>[0]) {
  const clock = new FakeClock();
  const { connect, get } = await startTestServer(t, "", { clock });
  const login = await get(`/rest/v0/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
  });
  const cookie = login.headers.get("set-cookie")!.split(";")[0]!;
  const post = (path: string, headers: Record<string, string> = { cookie }) =>
    get(`/rest/v0${path}`, { method: "POST", headers });
  const ticket = async () => {
    const answer = await post("/session/ticket");
    return ((await answer.json()) as { ticket: string }).ticket;
  };
  return { clock, connect, post, ticket };
}

t.test("a page's cookie becomes a signed-in socket by a ticket", async (t) => {
  const { connect, ticket } = await setUp(t);
  const page = await connect();
  t.match(
    await page.request("session.signInWithTicket", { ticket: await ticket() }),
    { email: "admin", permission: "admin" },
  );
  t.match(await page.request("session.getUser"), { email: "admin" });
});

t.test("a ticket is good once, and for half a minute", async (t) => {
  const { clock, connect, ticket } = await setUp(t);
  const [page, attacker] = [await connect(), await connect()];
  const used = await ticket();
  await page.request("session.signInWithTicket", { ticket: used });
  const refused = { error: { code: 3 } };
  t.match(
    await attacker.call("session.signInWithTicket", { ticket: used }),
    refused,
  );
  const old = await ticket();
  clock.pass(30_000);
  t.match(
    await attacker.call("session.signInWithTicket", { ticket: old }),
    refused,
  );
});

t.test("anonymous clients get none", async (t) => {
  const { post } = await setUp(t);
  t.match(await (await post("/session/ticket", {})).json(), { ticket: null });
  const cookie = "authenticationToken=no";
  t.equal((await post("/session/ticket", { cookie })).status, 401);
});

t.test(
  "signing out ends the cookie's token, its tickets and its sockets",
  async (t) => {
    const { connect, post, ticket } = await setUp(t);
    const [page, late] = [await connect(), await connect()];
    await page.request("session.signInWithTicket", { ticket: await ticket() });
    const unused = await ticket();
    const answer = await post("/auth/logout");
    t.equal(answer.status, 204);
    t.match(
      answer.headers.get("set-cookie"),
      /^authenticationToken=;.*Max-Age=0/,
    );
    t.equal((await post("/session/ticket")).status, 401);
    t.match(await late.call("session.signInWithTicket", { ticket: unused }), {
      error: { code: 3 },
    });
    await page.closed;
  },
);
