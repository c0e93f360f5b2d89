import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XoError } from "@xo-server/model";
import t from "tap";
import { StoredPools } from "../src/pools/stored-pools.js";
import type { PoolSettings } from "../src/pools/pool-settings.js";
import { createLoggers } from "../src/log/logger.js";
import { toErrorSummary } from "../src/status/error-summary.js";
import { startTestServer } from "./test-server.js";

const CONFIGURED = `
pools:
  - { label: Paris, hosts: [192.0.2.1], password: hunter2 }
`;
const rome = { host: "192.0.2.2", username: "root", password: "hunter2" };

t.test("an added server is connected, stored and reported", async (t) => {
  const { connect, pools } = await startTestServer(t, CONFIGURED);
  const admin = await (await connect()).signIn();
  const id = await admin.request("server.add", { ...rome, label: "Rome" });
  t.type(id, "string");
  const added = pools.find(({ current }) => current.id === id)!;
  t.match(added.current, { label: "Rome", address: "192.0.2.2" });
  added.become({ state: "watching" });
  const all = await admin.request("server.getAll");
  t.match(all, [
    {
      id,
      host: "192.0.2.2",
      label: "Rome",
      username: "root",
      enabled: true,
      status: "connected",
      readOnly: false,
      allowUnauthorized: false,
      origin: "api",
    },
    { id: "paris", label: "Paris", status: "connecting", origin: "config" },
  ]);
  t.notMatch(JSON.stringify(all), "hunter2");
  t.match(await admin.call("server.add", rome), {
    error: { code: 16, message: "server already exists" },
  });
});

t.test("a changed server is reconnected", async (t) => {
  const { connect, pools } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("server.add", rome);
  t.equal(pools.length, 1);
  const moved = { id, host: "192.0.2.3" };
  t.match(await admin.call("server.set", moved), {
    error: {
      code: 10,
      data: { reason: /^`password` is required to change `host`/ },
    },
  });
  t.match(await admin.request("server.getAll"), [{ host: "192.0.2.2" }]);
  const news = { ...moved, password: "new", readOnly: true, label: null };
  t.equal(await admin.request("server.set", news), true);
  t.ok(pools[0]!.stopped);
  t.match(pools[1]!.current, { id, address: "192.0.2.3" });
  t.match(await admin.request("server.getAll"), [
    { readOnly: true, label: "" },
  ]);
});

t.test(
  "a certificate is accepted by its fingerprint, and the reason of a disconnected pool is shown",
  async (t) => {
    const { connect, pools } = await startTestServer(t);
    const admin = await (await connect()).signIn();
    const shown = new Array(32).fill("AB").join(":");
    const id = await admin.request("server.add", {
      ...rome,
      fingerprint: shown,
    });
    const fingerprint = "ab".repeat(32);
    t.match(await admin.request("server.getAll"), [{ fingerprint }]);
    const error = toErrorSummary(
      new XoError("TLS_FINGERPRINT_MISMATCH", {
        address: "192.0.2.2:443",
        pinned: fingerprint,
        fingerprint: "cd".repeat(32),
        other: "not returned",
      }),
    );
    pools[0]!.become({ state: "failed", error });
    t.match(await admin.request("server.getAll"), [
      {
        error: {
          code: "TLS_FINGERPRINT_MISMATCH",
          data: { pinned: fingerprint, fingerprint: "cd".repeat(32) },
        },
      },
    ]);
    t.notMatch(JSON.stringify(error), "not returned");
    const many = new XoError(
      "NO_CANDIDATE",
      { reasons: "all away" },
      new XoError("TLS_UNTRUSTED", { fingerprint: "ef", reason: "self" }),
    );
    t.match(toErrorSummary(many), {
      code: "NO_CANDIDATE",
      message: /all away/,
      data: { cause: "TLS_UNTRUSTED", fingerprint: "ef" },
    });
    const accepted = { id, fingerprint: "cd".repeat(32) };
    await admin.request("server.set", accepted);
    t.match(await admin.request("server.getAll"), [accepted]);
    await admin.request("server.set", { id, readOnly: true });
    t.match(await admin.request("server.getAll"), [
      { ...accepted, readOnly: true },
    ]);
    await admin.request("server.set", { id, fingerprint: null });
    const [server] = (await admin.request("server.getAll")) as object[];
    t.notOk(Object.hasOwn(server!, "fingerprint"));
    t.match(await admin.call("server.set", { id, fingerprint: "ab" }), {
      error: { code: 10 },
    });
  },
);

t.test("a server can be left unconnected, and removed", async (t) => {
  const { connect, pools } = await startTestServer(t);
  const admin = await (await connect()).signIn();
  const id = await admin.request("server.add", { ...rome, autoConnect: false });
  t.equal(pools.length, 0);
  t.match(await admin.request("server.getAll"), [{ status: "disconnected" }]);
  t.equal(await admin.request("server.enable", { id }), true);
  t.equal(pools.length, 1);
  t.equal(await admin.request("server.disable", { id }), true);
  t.ok(pools[0]!.stopped);
  t.match(await admin.request("server.getAll"), [{ enabled: false }]);
  await admin.request("server.enable", { id });
  t.equal(await admin.request("server.remove", { id }), true);
  t.ok(pools[1]!.stopped);
  t.same(await admin.request("server.getAll"), []);
  for (const method of ["server.remove", "server.enable", "server.set"])
    t.match(await admin.call(method, { id }), {
      error: { code: 1, message: `no such server ${String(id)}` },
    });
});

t.test("servers on one database follow each other's pools", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xo-shared-"));
  t.teardown(() => rm(folder, { recursive: true }));
  const yaml = `store: {location: ${join(folder, "store.db")}, keyFile: ${join(folder, "store.key")}, pollMs: 20}`;
  const one = await startTestServer(t, yaml);
  const other = await startTestServer(t, yaml);
  const admin = await (await one.connect()).signIn();
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const id = await admin.request("server.add", rome);
  await until(() => other.pools.length === 1);
  t.match(other.pools[0]!.current, { id, address: "192.0.2.2" });
  await admin.request("server.disable", { id });
  await until(() => other.pools[0]!.stopped);
  await admin.request("server.enable", { id });
  await until(() => other.pools.length === 2);
  await admin.request("server.set", { id, host: "192.0.2.4", password: "x" });
  await until(() => other.pools.length === 3);
  t.match(other.pools[2]!.current, { address: "192.0.2.4" });
  await admin.request("server.remove", { id });
  await until(() => other.pools[2]!.stopped);
  const asked = await (await other.connect()).signIn();
  t.same(await asked.request("server.getAll"), []);
  t.equal(one.pools.length, 3, "one's own changes are applied once");
});

t.test("at the start, enabled servers are connected", async (t) => {
  const named = (id: string, enabled: boolean) => ({
    id,
    host: `${id}.example`,
    username: "root",
    label: "",
    enabled,
    options: { allowUnauthorized: true },
    createdAt: 0,
    updatedAt: 0,
  });
  const servers = [named("on", true), named("off", false), named("bad", true)];
  const connected: PoolSettings[] = [];
  const lines: string[] = [];
  const stored = new StoredPools({
    servers: {
      list: () => servers.values(),
      credentials(id: string) {
        if (id === "bad") throw new Error("cannot be decrypted");
        return { password: "hunter2", httpProxy: "http://proxy.example" };
      },
    } as never,
    onForeignChange: () => () => undefined,
    pools: {
      connect: (settings) => void connected.push(...settings),
      disconnect: async () => false,
      created: async () => undefined,
    },
    hold: () => () => undefined,
    deleteEndpoints: async () => undefined,
    logger: createLoggers({
      destination: { write: (line) => lines.push(line) },
    }).named("x"),
  });
  stored.connectAll();
  t.match(connected, [
    {
      id: "on",
      label: "on.example",
      hosts: ["on.example"],
      user: "root",
      password: "hunter2",
      proxy: "http://proxy.example",
      tls: { trust: "insecure" },
    },
  ]);
  t.equal(connected.length, 1);
  t.match(lines.join(""), /bad\.example is not connected/);
  t.match(stored.problemOf("bad"), { message: "cannot be decrypted" });
});

t.test("the methods are described, one by one too", async (t) => {
  const client = await (await startTestServer(t)).connect();
  const names = (await client.request("system.listMethods")) as string[];
  t.ok(names.includes("xo.getAllObjects"));
  t.same(
    names.toSorted(),
    Object.keys(
      (await client.request("system.getMethodsInfo")) as object,
    ).toSorted(),
  );
  t.match(
    await client.request("system.methodSignature", { method: "vm.start" }),
    [{ name: "vm.start", params: { id: { type: "string" } } }],
  );
  t.match(await client.call("system.methodSignature", { method: "x" }), {
    error: { code: 1 },
  });
  t.type(await client.request("system.getVersion"), "string");
});
