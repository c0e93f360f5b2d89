import { once } from "node:events";
import { connect } from "node:net";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { startTestServer, type TestServer } from "./test-server.js";

/** What `/metrics` says of a limit. */
async function hits({ get }: TestServer, limit: string): Promise<number> {
  const text = await (await get("/metrics")).text();
  const line = new RegExp(
    `^xo_http_limit_hits_total{limit="${limit}"} (\\d+)$`,
    "m",
  );
  return Number(line.exec(text)?.[1]);
}

/** All that a connection receives, until it is closed. */
async function say(host: string, ...parts: string[]): Promise<string> {
  const [address, port] = host.split(":");
  const socket = connect(Number(port), address);
  let answer = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => (answer += chunk.toString()));
  for (const part of parts) socket.write(part);
  await once(socket, "close");
  return answer;
}

const post = (body: string): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body,
});

t.test("bodies are bound, in size and in depth", async (t) => {
  const server = await startTestServer(t, "http: { maxBodyBytes: 10000 }");
  const login = (body: string) => server.get("/auth/login", post(body));
  t.equal((await login(JSON.stringify("x".repeat(10_001)))).status, 413);
  t.equal(await hits(server, "body_size"), 1);
  const deep = await login("[".repeat(9_000));
  t.equal(deep.status, 400);
  t.match(await deep.json(), { error: /deeper than 64 levels/ });
  t.equal(await hits(server, "depth"), 1);
});

t.test("headers are bound, in size and in time", async (t) => {
  const server = await startTestServer(
    t,
    "http: { maxHeaderBytes: 2000, headersTimeoutMs: 300 }",
  );
  const { host } = server;
  const long = await say(
    host,
    `GET / HTTP/1.1\r\nhost: x\r\na: ${"x".repeat(3000)}\r\n\r\n`,
  );
  t.match(long, /^HTTP\/1.1 431 /);
  t.match(long, /content-security-policy: default-src 'none'/);
  t.equal(await hits(server, "header_size"), 1);
  t.match(await say(host, "GET / HTTP/1.1\r\nhost: x\r\n"), /^HTTP\/1.1 408 /);
  t.match(await say(host), /^HTTP\/1.1 408 |^$/, "a client that sends nothing");
  t.ok((await hits(server, "header_timeout")) >= 1);
});

t.test("a body that stops arriving is aborted", async (t) => {
  const server = await startTestServer(t, "http: { bodyTimeoutMs: 200 }");
  const head =
    "POST /auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n";
  t.equal(
    await say(server.host, `${head}content-length: 100\r\n\r\n{"a":`),
    "",
  );
  t.equal(
    await say(
      server.host,
      `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`,
    ),
    "",
  );
  t.equal(await hits(server, "body_timeout"), 2);
});

t.test("requests are bound by address and by user", async (t) => {
  const limits = "maxRequestsPerSecond: 5, maxRequestsPerUserPerSecond: 2";
  const server = await startTestServer(t, `http: { ${limits} }`);
  const statuses = async (path: string, init?: RequestInit) => {
    const all = Array.from({ length: 12 }, () => server.get(path, init));
    return (await Promise.all(all)).map(({ status }) => status);
  };
  const client = await (await server.connect()).signIn();
  const token = String(await client.request("token.create"));
  const cookie = { headers: { cookie: `authenticationToken=${token}` } };
  t.ok((await statuses("/rest/v0/vms", cookie)).includes(429));
  t.ok((await hits(server, "request_rate_user")) >= 1);
  t.ok((await statuses("/rest/v0/ping")).includes(429));
  t.ok((await hits(server, "request_rate_address")) >= 1);
});

async function open(t: Test, host: string): Promise<WebSocket | number> {
  const socket = new WebSocket(`ws://${host}/api/`);
  t.teardown(() => {
    socket.terminate();
  });
  return new Promise((resolve) => {
    socket.on("error", () => undefined);
    socket.on("open", () => {
      resolve(socket);
    });
    socket.on("unexpected-response", (_request, answer) => {
      resolve(answer.statusCode!);
    });
  });
}

t.test("sockets are bound, in all and by address", async (t) => {
  const server = await startTestServer(t, "http: { maxSocketsPerAddress: 2 }");
  for (let i = 0; i < 2; i++) t.type(await open(t, server.host), WebSocket);
  t.equal(await open(t, server.host), 503);
  t.equal(await hits(server, "sockets_of_address"), 1);
});

t.test("of too many guests the oldest is closed, no user", async (t) => {
  const server = await startTestServer(t, "http: { maxAnonymousSockets: 2 }");
  const user = await (await server.connect()).signIn();
  const [oldest] = [await server.connect(), await server.connect()];
  await server.connect();
  t.equal(await oldest.closed, 1001);
  t.type(await user.request("session.getUser"), "object");
  t.equal(await hits(server, "guest_sockets"), 1);
});

t.test("messages are bound, in size and in depth", async (t) => {
  const server = await startTestServer(t, "http: { maxMessageBytes: 100000 }");
  const client = await server.connect();
  client.socket.send("[".repeat(99_000));
  const answer = await client.find(({ error }) => error !== undefined);
  t.match(answer.error, { code: -32600, data: { reason: /deeper than 64/ } });
  t.equal(await hits(server, "depth"), 1);
  client.socket.send("x".repeat(100_001));
  t.equal(await client.closed, 1009);
  t.equal(await hits(server, "message_size"), 1);
});

t.test(
  "an anonymous client that sends half a message is disconnected",
  async (t) => {
    const server = await startTestServer(t);
    const guest = await server.connect();
    const user = await (await server.connect()).signIn();
    const half = "x".repeat(300_000);
    user.socket.send(half, { fin: false });
    guest.socket.send(half, { fin: false });
    t.equal(await guest.closed, 1009);
    user.socket.send("", { fin: true });
    t.match(await user.find(({ error }) => error !== undefined), {
      error: { code: -32700 },
    });
    t.equal(await hits(server, "message_size"), 1);
  },
);

t.test("all clients of a user share a rate; a batch is many", async (t) => {
  const server = await startTestServer(
    t,
    "http: { maxMessagesPerUserPerSecond: 20, maxMessagesPerSecond: 1000 }",
  );
  const clients = [await server.connect(), await server.connect()];
  const one = { jsonrpc: "2.0", method: "system.getServerVersion" };
  const batch = Array.from({ length: 12 }, (_, id) => ({
    ...one,
    id: id + 100,
  }));
  for (const { socket } of clients) socket.send(JSON.stringify(batch));
  await Promise.all(
    clients.map((client) => client.call("system.getServerVersion")),
  );
  t.ok((await hits(server, "message_rate")) >= 1);
});

t.test("event streams are bound by user", async (t) => {
  const server = await startTestServer(
    t,
    "http: { maxEventStreamsPerUser: 1 }",
  );
  const client = await (await server.connect()).signIn();
  const token = String(await client.request("token.create"));
  const ending = new AbortController();
  const init = {
    headers: { cookie: `authenticationToken=${token}` },
    signal: ending.signal,
  };
  t.equal((await server.get("/rest/v0/events", init)).status, 200);
  t.equal((await server.get("/rest/v0/events", init)).status, 503);
  t.equal(await hits(server, "event_streams"), 1);
  ending.abort();
});
