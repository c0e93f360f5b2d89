import t from "tap";
import { WebSocket } from "ws";
import { ADMIN_PASSWORD, startTestServer } from "./test-server.js";

const EVIL = { origin: "https://evil.example" };

async function setUp(t: Parameters<typeof startTestServer>[0], yaml = "") {
  const server = await startTestServer(t, yaml);
  const login = await server.get("/auth/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
  });
  const cookie = login.headers.get("set-cookie")!;
  return { ...server, cookie: cookie.split(";")[0]!, attributes: cookie };
}

t.test("a socket gets no rights from the cookie on any origin", async (t) => {
  const { host, cookie } = await setUp(t);
  for (const origin of ["https://evil.example", `http://${host}`]) {
    const headers = { cookie, authorization: "Bearer x", origin };
    const socket = new WebSocket(`ws://${host}/api/`, { headers });
    await new Promise((resolve) => socket.once("open", resolve));
    const answers: { result?: unknown; error?: unknown }[] = [];
    socket.on("message", (data: Buffer) =>
      answers.push(JSON.parse(data.toString()) as object),
    );
    for (const method of ["session.getUser", "user.getAll"])
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: method, method }));
    while (answers.length < 2)
      await new Promise((resolve) => socket.once("message", resolve));
    for (const answer of answers)
      t.notOk(answer.result, `${origin}: ${JSON.stringify(answer)}`);
    socket.close();
  }
});

t.test("browsers do not send the cookie along from elsewhere", async (t) => {
  const { attributes } = await setUp(t);
  t.match(attributes, /; HttpOnly; SameSite=Strict/);
});

t.test(
  "requests of another site's page that change something are refused",
  async (t) => {
    const { get, cookie } = await setUp(t);
    const change = (headers: Record<string, string>) =>
      get("/rest/v0/users/me/authentication_tokens", {
        method: "POST",
        headers: { cookie, "content-type": "application/json", ...headers },
        body: "{}",
      });
    t.equal((await change(EVIL)).status, 403);
    t.equal((await change({ "sec-fetch-site": "cross-site" })).status, 403);
    t.equal((await change({ "sec-fetch-site": "same-site" })).status, 403);
    t.equal((await change({ origin: "null" })).status, 403);
    t.equal((await change({})).status, 201, "programs send no origin");
  },
);

t.test("no form can be a request: bodies are JSON only", async (t) => {
  const { get, cookie } = await setUp(t);
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
  ]) {
    const answer = await get("/auth/login", {
      method: "POST",
      headers: { cookie, "content-type": type },
      body: `{"username":"admin","password":"${ADMIN_PASSWORD}"}`,
    });
    t.equal(answer.status, 415, type);
  }
});

t.test("no other origin is permitted to read", async (t) => {
  const { get, cookie } = await setUp(t);
  for (const path of ["/rest/v0/users", "/health", "/", "/rest/v0/docs"])
    for (const method of ["GET", "OPTIONS"]) {
      const { headers } = await get(path, {
        method,
        headers: { cookie, ...EVIL },
      });
      t.equal(
        headers.get("access-control-allow-origin"),
        null,
        `${method} ${path}`,
      );
      t.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    }
});

t.test("data is not a page: it neither runs nor loads anything", async (t) => {
  const { get, cookie } = await setUp(t);
  for (const path of [
    "/rest/v0/users",
    "/rest/v0/absent",
    "/rest/v0/users/%3Cscript%3E",
  ]) {
    const { headers } = await get(path, { headers: { cookie } });
    t.match(
      headers.get("content-security-policy"),
      /^default-src 'none';.*sandbox$/,
    );
    t.equal(headers.get("x-content-type-options"), "nosniff");
  }
  const docs = await get("/rest/v0/docs");
  const policy = docs.headers.get("content-security-policy");
  t.match(policy, /script-src 'self'; style-src 'self'/);
  t.notMatch(policy, "unsafe");
  const html = await docs.text();
  t.notMatch(
    html,
    /<script(?![^>]*src=)|style="|<style| on\w+=/,
    "nothing inline",
  );
});

t.test("behind a proxy, the address and https are the caller's", async (t) => {
  const limit = "maxSocketsPerAddress: 1";
  const trusted = await setUp(
    t,
    `http: { ${limit}, trustedProxies: [127.0.0.0/8] }`,
  );
  const otherClients = await setUp(t, `http: { ${limit} }`);
  for (const [server, isBelieved] of [
    [trusted, true],
    [otherClients, false],
  ] as const) {
    const login = await server.get("/auth/login", {
      method: "POST",
      headers: { "content-type": "application/json", ...via(9) },
      body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
    });
    t.equal(/; Secure/.test(login.headers.get("set-cookie")!), isBelieved);
    t.equal(await isLetIn(server.host, via(1)), true);
    t.equal(await isLetIn(server.host, via(2)), isBelieved, "another address");
    t.equal(await isLetIn(server.host, via(1)), false, "the same address");
  }

  function isLetIn(host: string, headers: Record<string, string>) {
    const socket = new WebSocket(`ws://${host}/api/`, { headers });
    t.teardown(() => {
      socket.terminate();
    });
    return new Promise<boolean>((resolve) => {
      socket.once("open", () => {
        resolve(true);
      });
      socket.once("error", () => {
        resolve(false);
      });
    });
  }
});

function via(last: number): Record<string, string> {
  const address = `203.0.113.${last}`;
  return { "x-forwarded-for": address, "x-forwarded-proto": "https" };
}
