import t from "tap";
import { FakeObjects } from "./fake-objects.js";
import { as, startRestServer } from "./rest-server.js";
import { startTestServer, ADMIN_PASSWORD } from "./test-server.js";
import { isSentByPage } from "../src/api/rest/session/sent-by-page.js";
import { FakeClock } from "./fake-clock.js";

const basic = (name: string, password: string) => ({
  headers: { authorization: `Basic ${btoa(`${name}:${password}`)}` },
});
const PUBLIC = ["/ping", "/mcp/status", "/gui-routes", "/docs/swagger.json"];

t.test(
  "a token comes in a cookie or as Bearer, a password as Basic",
  async (t) => {
    const { get } = await startRestServer(t, { permission: "guest" });
    const ways = [
      as("admin"),
      { headers: { cookie: "x=1; token=admin" } },
      { headers: { cookie: "token=wrong; authenticationToken=admin" } },
      { headers: { authorization: "Bearer admin" } },
      basic("admin", "pw"),
    ];
    for (const [i, way] of ways.entries())
      t.equal((await get("/vms", way)).status, 200, `way ${i}`);
  },
);

t.test(
  "anonymous and wrongly authenticated clients get a challenge",
  async (t) => {
    const { get } = await startRestServer(t, { permission: "guest" });
    for (const way of [{}, as("wrong"), basic("admin", "no")]) {
      const answer = await get("/vms", way);
      t.equal(answer.status, 401);
      t.equal(answer.headers.get("www-authenticate"), 'Basic realm="xo"');
      t.same(await answer.json(), { error: "invalid credentials" });
    }
  },
);

t.test(
  "a script of a page gets no challenge: browsers would prompt",
  async (t) => {
    const { get } = await startRestServer(t, { permission: "guest" });
    const login = (headers: Record<string, string>) =>
      get("/auth/login", {
        method: "POST",
        body: JSON.stringify({ username: "admin", password: "no" }),
        headers: { "content-type": "application/json", ...headers },
      });
    const challenge = (answer: Response) => {
      t.equal(answer.status, 401);
      return answer.headers.get("www-authenticate");
    };
    const fetched = {
      "sec-fetch-mode": "cors",
      "sec-fetch-site": "same-origin",
    };
    t.equal(challenge(await login(fetched)), null);
    t.equal(challenge(await get("/vms", { headers: fetched })), null);
    const script = { "x-requested-with": "XMLHttpRequest" };
    t.equal(challenge(await get("/vms", { headers: script })), null);
    t.equal(isSentByPage({ ...fetched, "sec-fetch-mode": "navigate" }), false);
  },
);

t.test("some routes are public, but not for a wrong token", async (t) => {
  const { get } = await startRestServer(t, { permission: "guest" });
  for (const path of PUBLIC) {
    t.equal((await get(path)).status, 200, path);
    t.equal((await get(path, as("wrong"))).status, 401, path);
  }
  t.match(await (await get("/ping")).json(), {
    result: "pong",
    timestamp: Number,
  });
});

t.test("contradictory and invalid credentials are bad requests", async (t) => {
  const { json } = await startRestServer(t);
  const both = {
    headers: { ...as("admin").headers, ...basic("a", "b").headers },
  };
  t.same(await json("/vms", both, 400), {
    error:
      "Having multiple authentication methods is not supported, please choose one",
  });
  for (const authorization of ["Basic", "Basic bm9jb2xvbg==", "Digest x", "x"])
    await json("/vms", { headers: { authorization } }, 400);
});

t.test("a second factor can be sent in the query", async (t) => {
  const { json } = await startRestServer(t, { users: { totp: [] } });
  await json("/vms", basic("totp", "pw"), 401);
  t.same(await json("/vms?otp=123456", basic("totp", "pw")), []);
});

t.test("cross-site requests that change something are refused", async (t) => {
  const { get, host } = await startRestServer(t);
  const post = (headers: Record<string, string>) =>
    get("/events/x/subscriptions", {
      method: "POST",
      body: '{"collection":"VM"}',
      headers: { "content-type": "application/json", ...headers },
    });
  const isRefused = async (headers: Record<string, string>) =>
    (await post(headers)).status === 403;
  t.equal(await isRefused({ origin: "http://evil.example" }), true);
  t.equal(await isRefused({ origin: "null" }), true);
  t.equal(await isRefused({ "sec-fetch-site": "cross-site" }), true);
  t.equal(await isRefused({ "sec-fetch-site": "same-site" }), true);
  t.equal(await isRefused({ origin: `http://${host}` }), false);
  // Behind a proxy the host may be another; what the browser says of itself counts.
  const proxied = {
    "sec-fetch-site": "same-origin",
    origin: "https://xo.example",
  };
  t.equal(await isRefused(proxied), false);
  t.equal(await isRefused({}), false, "a program");
  const form = { "content-type": "application/x-www-form-urlencoded" };
  t.equal((await post(form)).status, 415, "forms are not a way in");
});

t.test(
  "name and password get a cookie that scripts and other sites do not",
  async (t) => {
    const { get, lines } = await startTestServer(t);
    const login = (path: string, password: string) =>
      get(path, {
        method: "POST",
        body: JSON.stringify({ username: "admin", password }),
        headers: { "content-type": "application/json" },
      });
    for (const path of ["/auth/login", "/rest/v0/auth/login"]) {
      const answer = await login(path, ADMIN_PASSWORD);
      t.equal(answer.status, 200, lines.join(""));
      const cookie = answer.headers.get("set-cookie")!;
      t.match(
        cookie,
        /^authenticationToken=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
      );
      const headers = { cookie: cookie.split(";")[0]! };
      const me = await get("/rest/v0/users/me", { headers });
      t.match(await me.json(), { name: "admin", permission: "admin" });
    }
    t.equal((await login("/auth/login", "wrong")).status, 401);
    t.equal((await get("/auth/login", { method: "POST" })).status, 422);
  },
);

t.test("real pools are hidden from anonymous clients", async (t) => {
  const { get } = await startTestServer(t);
  for (const path of [
    "/vms",
    "/vms/x",
    "/vms/x/vdis",
    "/alarms",
    "/events",
    "/users",
  ])
    t.equal((await get(`/rest/v0${path}`)).status, 401, path);
});

t.test("an address above the rate limit gets a Retry-After", async (t) => {
  const clock = new FakeClock();
  const yaml = "http: { maxRequestsPerSecond: 3 }";
  const { get } = await startRestServer(t, { yaml, clock });
  for (let i = 0; i < 3; i++) t.equal((await get("/ping")).status, 200);
  const answer = await get("/ping");
  t.equal(answer.status, 429);
  t.equal(answer.headers.get("retry-after"), "1");
  clock.pass(1000);
  t.equal((await get("/ping")).status, 200);
});

t.test("a missing route is reported in JSON, without internals", async (t) => {
  const objects = new FakeObjects();
  const page = () => Promise.reject(new Error("inside secret"));
  Object.defineProperty(objects, "views", {
    value: { ...objects.views, queries: { page } },
  });
  const { get, json, lines } = await startRestServer(t, { objects });
  t.match(await json("/absent", undefined, 404), { error: /^no such route/ });
  await json("/vms/a/b/c", undefined, 404);
  await json("/vms", { method: "DELETE" }, 405);
  t.same(await json("/vms", undefined, 500), { error: "internal error" });
  t.match(lines.join(""), "inside secret", "but the log has it");
  await json("/vms?filter=" + "x".repeat(10_000), undefined, 500);
  t.equal((await get("")).headers.get("location"), "/rest/v0/docs");
  t.equal((await get("")).status, 302);
});

t.test(
  "a right password too soon after a wrong one is refused as throttled",
  async (t) => {
    const clock = new FakeClock();
    const { get } = await startTestServer(t, "", { clock });
    const login = (password: string) =>
      get("/rest/v0/auth/login", {
        method: "POST",
        body: JSON.stringify({ username: "admin", password }),
        headers: { "content-type": "application/json" },
      });
    t.equal((await login("wrong")).status, 401);
    clock.pass(500);
    for (const answer of [
      await login(ADMIN_PASSWORD),
      await get("/rest/v0/users/me", basic("admin", ADMIN_PASSWORD)),
    ]) {
      t.equal(answer.status, 429);
      t.equal(answer.headers.get("retry-after"), "2");
      t.equal(answer.headers.get("www-authenticate"), null);
      t.match(await answer.json(), {
        error:
          "too many failed sign-in attempts: credentials were not checked, try again in 2 s",
        data: { seconds: 2, retryAfterMs: 1_500 },
      });
    }
    clock.pass(1_500);
    t.equal((await login(ADMIN_PASSWORD)).status, 200);
  },
);
