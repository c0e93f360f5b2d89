import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import t from "tap";
import { WebSocket } from "ws";
import { applyMergePatch, createMergePatch, type Json } from "@xo-server/kit";
import { startTestServer } from "./test-server.js";

const TWO_POOLS = `
pools:
  - { label: Paris, hosts: [192.0.2.1], password: hunter2 }
  - { label: Rome, hosts: [192.0.2.2], password: hunter2 }
  - { label: Off, hosts: [192.0.2.3], password: hunter2, enabled: false }
`;

t.test("it prints its address, and how to add a pool", async (t) => {
  const { lines, host } = await startTestServer(t);
  t.match(lines.join(""), `xo:main Web server listening on http://${host}\n`);
  t.match(
    lines.join(""),
    /No pools configured: add servers in the web page or under `pools`/,
  );
});

t.test("it is ready once every pool was loaded, or failed", async (t) => {
  const { get, pools } = await startTestServer(t, TWO_POOLS);
  t.equal(pools.length, 2, "a pool that is not enabled is left alone");
  t.match(await (await get("/health/live")).json(), { live: true });
  const before = await get("/health/ready");
  t.equal(before.status, 503);
  t.same(await before.json(), {
    live: true,
    ready: false,
    draining: false,
    leaving: false,
    pools: { total: 2, byState: { connecting: 2 } },
    store: "available",
    isolated: false,
  });
  pools[0]!.become({ state: "watching", loadMs: 10 });
  t.equal((await get("/health")).status, 503);
  pools[1]!.become({
    state: "backing-off",
    error: { code: "CONNECTION_REFUSED", message: "refused" },
  });
  const after = await get("/health");
  t.equal(after.status, 200);
  t.match(await after.json(), {
    ready: true,
    draining: false,
    leaving: false,
    pools: { byState: { watching: 1, "backing-off": 1 } },
  });
  t.equal(after.headers.get("cache-control"), "no-store");
});

t.test(
  "it stays ready while a pool that is added, or connected again, is loaded",
  async (t) => {
    const { get, pools, connect } = await startTestServer(t, TWO_POOLS);
    for (const pool of pools) pool.become({ state: "watching", loadMs: 10 });
    t.equal((await get("/health/ready")).status, 200);
    const admin = await (await connect()).signIn();
    const added = { host: "192.0.2.4", username: "root", password: "hunter2" };
    const id = await admin.request("server.add", added);
    const health = await get("/health/ready");
    t.equal(health.status, 200);
    t.match(await health.json(), {
      pools: { total: 3, byState: { watching: 2, connecting: 1 } },
    });
    pools[2]!.become({ state: "watching", loadMs: 10 });
    await admin.request("server.disable", { id });
    await admin.request("server.enable", { id });
    t.equal(pools[3]!.current.state, "connecting");
    t.equal((await get("/health/ready")).status, 200);
  },
);

t.test("every answer has the security headers", async (t) => {
  const { get } = await startTestServer(t);
  for (const path of ["/", "/health", "/absent"]) {
    const { headers } = await get(path);
    t.match(headers.get("content-security-policy"), /script-src 'self';/);
    t.match(headers.get("content-security-policy"), /frame-ancestors 'none'/);
    t.equal(headers.get("x-content-type-options"), "nosniff");
    t.equal(headers.get("x-powered-by"), null);
  }
});

t.test("a missing object is reported with a code of the table", async (t) => {
  const { get } = await startTestServer(t);
  for (const path of ["/absent", "/..%2f..%2fpackage.json", "/%00"]) {
    const answer = await get(path);
    t.ok(answer.status >= 400 && answer.status < 500, path);
    t.type(((await answer.json()) as { code: unknown }).code, "string");
  }
});

t.test("bodies and headers have limits", async (t) => {
  const { get } = await startTestServer(
    t,
    "http: { maxBodyBytes: 1000, maxHeaderBytes: 4096 }",
  );
  const long = "x".repeat(8000);
  const headers = await get("/health", { headers: { "x-long": long } });
  t.equal(headers.status, 431);
  const body = await get("/health", { method: "POST", body: long });
  t.ok([404, 413].includes(body.status));
});

t.test("the API is at /api/ and /api, and nowhere else", async (t) => {
  const { connect, host } = await startTestServer(t);
  for (const path of ["/api/", "/api"]) {
    const client = await connect(path);
    t.match(await client.call("system.getServerVersion"), { id: 0 });
    client.socket.close();
  }
  for (const path of ["/", "/api/x", "/api/?x", "/apis"]) {
    const socket = new WebSocket(`ws://${host}${path}`);
    const [, response] = (await once(socket, "unexpected-response")) as [
      unknown,
      { statusCode: number; destroy(): void },
    ];
    t.equal(response.statusCode, 404, path);
    response.destroy();
  }
});

t.test("the methods are described", async (t) => {
  const client = await (await startTestServer(t)).connect();
  const { result } = await client.call("system.getMethodsInfo");
  t.match(result, {
    "system.getServerVersion": { params: {} },
    "system.getStatus": { permission: "guest" },
    "pool.listStatus": {
      description: String,
      params: { state: { type: "string", optional: true } },
    },
  });
});

t.test("the status has the server, its pools and their sum", async (t) => {
  const { connect, pools } = await startTestServer(t, TWO_POOLS);
  pools[0]!.become({ objects: 3, counts: { VM: 2, host: 1 } });
  pools[1]!.become({ objects: 1, counts: { VM: 1 } });
  const client = await (await connect()).signIn();
  const { result } = await client.call("system.getStatus");
  t.match(result, {
    server: { demo: false, node: process.version, clients: 1 },
    pools: { paris: { label: "Paris", objects: 3 }, rome: { objects: 1 } },
    totals: { pools: 2, objects: 4, counts: { VM: 3, host: 1 } },
  });
  t.notMatch(JSON.stringify(result), "hunter2");
  t.match(await client.call("pool.listStatus", { state: "watching" }), {
    result: [],
  });
});

t.test("a status conforms to its schema", async (t) => {
  const { Ajv } = await import("ajv");
  const { Status } = await import("../src/status/status.js");
  const { connect } = await startTestServer(t, TWO_POOLS);
  const client = await (await connect()).signIn();
  const validate = new Ajv().compile(Status);
  const { result } = await client.call("system.getStatus");
  t.ok(validate(result), JSON.stringify(validate.errors));
});

t.test("patches lead from the snapshot to the status of now", async (t) => {
  const { connect, pools } = await startTestServer(t, TWO_POOLS);
  const client = await (await connect()).signIn();
  const { result } = await client.call("status.subscribe");
  let { status } = result as { status: Json };
  pools[0]!.become({ state: "watching", loadMs: 5, counts: { VM: 7 } });
  await client.find(({ params }) =>
    JSON.stringify(params?.["patch"] ?? "").includes('"VM":7'),
  );
  t.match(await client.call("status.unsubscribe"), { result: true });
  for (const { method, params } of client.messages)
    if (method === "status")
      status = applyMergePatch(status, params!["patch"] as Json);
  const now = (await client.call("system.getStatus")).result as {
    pools: Json;
  };
  const followed = (status as unknown as { pools: Json }).pools;
  t.equal(createMergePatch(followed, now.pools), undefined);
});

t.test(
  "a message that is too big closes the connection, not the server",
  async (t) => {
    const { connect } = await startTestServer(
      t,
      "http: { maxMessageBytes: 1000 }",
    );
    const client = await connect();
    client.socket.send("x".repeat(2000));
    t.equal(await client.closed, 1009);
    const binary = await connect();
    binary.socket.send(Buffer.from("{}"));
    t.equal(await binary.closed, 1003);
    const next = await connect();
    t.match(await next.call("system.getServerVersion"), { id: 0 });
  },
);

t.test(
  "a client above the rate limit is throttled and gets all responses",
  async (t) => {
    const { connect } = await startTestServer(
      t,
      "http: { maxMessagesPerSecond: 100 }",
    );
    const client = await connect();
    const ids = Array.from({ length: 150 }, () =>
      client.call("system.getServerVersion"),
    );
    const answers = await Promise.all(ids);
    t.ok(answers.every(({ result }) => typeof result === "string"));
  },
);

t.test("a port in use is reported", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.teardown(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { loadConfig } = await import("../src/config/load-config.js");
  const home = t.testdir({});
  const loaded = loadConfig(
    undefined,
    { host: "127.0.0.1", port },
    { env: {}, cwd: home, home },
  );
  await t.rejects(startTestServer(t, "", loaded), {
    code: "PORT_IN_USE",
    message: `127.0.0.1:${port} is in use by another program`,
  });
});

t.test("stopping closes clients and pools", async (t) => {
  const { connect, pools, stop, get } = await startTestServer(t, TWO_POOLS);
  const client = await connect();
  await stop();
  t.equal(await client.closed, 1001);
  t.ok(pools.every(({ stopped }) => stopped));
  await t.rejects(get("/health"));
});

t.test("the demo's pools replace those of the configuration", async (t) => {
  let stopped = false;
  const { pools, lines, stop } = await startTestServer(t, TWO_POOLS, {
    demo: ["C"],
    startDemoPools: (profiles) => ({
      ready: Promise.resolve(
        profiles.map((label) => ({
          label,
          url: "http://127.0.0.1:1",
          user: "root",
          password: "x",
        })),
      ),
      stop: async () => (stopped = true),
    }),
  });
  t.same(
    pools.map(({ current }) => current.label),
    ["C"],
  );
  t.match(lines.join(""), "the 3 pools of the config are not connected");
  await stop();
  t.ok(stopped);
});

t.test("a demo that fails to start is reported and removed", async (t) => {
  let stopped = false;
  await t.rejects(
    startTestServer(t, "", {
      demo: ["C"],
      startDemoPools: () => ({
        ready: Promise.reject(new Error("ended with code 1")),
        stop: async () => (stopped = true),
      }),
    }),
    { code: "UNSUPPORTED", message: /the demo.*ended with code 1/ },
  );
  t.ok(stopped);
});
