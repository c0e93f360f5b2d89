import t, { type Test } from "tap";
import { FakeServer, RpcError, TOKEN } from "./fake-server.js";
import { Cli, runCli } from "./run-cli.js";

const ADA = { id: "a", name_label: "ada", power_state: "Halted", type: "VM" };
const BOB = { id: "b", name_label: "bob", power_state: "Running", type: "VM" };

const EMPTY = { revision: 2, total: 2, offset: 0, objects: {}, patches: {} };

/** Objects of the fake server; `query.open` returns them. */
async function start(t: Test) {
  const server = await FakeServer.start(t);
  const held = new Map<string, object>([
    ["a", ADA],
    ["b", BOB],
  ]);
  server.methods["query.open"] = () => ({
    ...EMPTY,
    splice: { at: 0, remove: 0, insert: [...held.keys()] },
    objects: Object.fromEntries(held),
  });
  const env = { XO_SERVER: server.url };
  return { server, env, held };
}

function eventsOf(cli: Cli): unknown[] {
  return cli.lines.map((line) => JSON.parse(line) as unknown);
}

t.test("programs receive present objects, then their changes", async (t) => {
  const { server, env } = await start(t);
  const args = ["watch", "vm", "--json", "--filter", "name_label:/./"];
  const cli = new Cli(t, args, { env });
  await cli.until(({ out }) => out.includes("ready"));
  t.match(server.calls, [
    { params: { type: "VM", filter: "name_label:/./", offset: 0 } },
  ]);
  server.notify("query", {
    ...EMPTY,
    patches: { a: { power_state: "Running", startTime: 5 } },
  });
  server.notify("query", {
    ...EMPTY,
    splice: { at: 1, remove: 1, insert: ["c"] },
    objects: { c: { ...BOB, id: "c" } },
  });
  server.notify("query", { ...EMPTY, patches: { a: { startTime: null } } });
  await cli.until(({ lines }) => lines.length === 7);
  cli.interrupt();
  t.equal(await cli.ended, 130);
  const started = { ...ADA, power_state: "Running", startTime: 5 };
  t.same(eventsOf(cli), [
    { event: "add", id: "a", object: ADA },
    { event: "add", id: "b", object: BOB },
    { event: "ready", total: 2 },
    {
      event: "change",
      id: "a",
      changed: ["power_state", "startTime"],
      object: started,
    },
    { event: "remove", id: "b" },
    { event: "add", id: "c", object: { ...BOB, id: "c" } },
    {
      event: "change",
      id: "a",
      changed: ["startTime"],
      object: { ...ADA, power_state: "Running" },
    },
  ]);
});

t.test("subscribers receive the differences", async (t) => {
  const { server, env } = await start(t);
  const cli = new Cli(t, ["watch", "vm"], { env });
  await cli.until(
    ({ err }) => err === "watching 2 VM objects; press Ctrl-C to stop\n",
  );
  server.notify("query", {
    ...EMPTY,
    patches: { a: { power_state: "Running", memory: { size: 1024 } } },
  });
  server.notify("query", {
    ...EMPTY,
    splice: { at: 1, remove: 1, insert: [] },
  });
  await cli.until(({ lines }) => lines.length === 2);
  t.same(cli.lines, [
    '~ ada  power_state: Halted → Running, memory: – → {"size":1024}',
    "- bob  b",
  ]);
});

t.test("an object that only moves is not news", async (t) => {
  const { server, env } = await start(t);
  const cli = new Cli(t, ["watch", "vm", "--json"], { env });
  await cli.until(({ out }) => out.includes("ready"));
  server.notify("query", {
    ...EMPTY,
    splice: { at: 0, remove: 2, insert: ["b", "a"] },
  });
  server.notify("query", {
    ...EMPTY,
    splice: { at: 0, remove: 1, insert: [] },
  });
  await cli.until(({ lines }) => lines.length > 3);
  t.match(eventsOf(cli).at(-1), { event: "remove", id: "b" });
});

t.test("after a reconnect only the differences are sent", async (t) => {
  const { server, env, held } = await start(t);
  const delays: number[] = [];
  const delay = async (ms: number) => {
    delays.push(ms);
  };
  const cli = new Cli(t, ["watch", "VM", "--json"], { env, delay });
  await cli.until(({ out }) => out.includes("ready"));
  held.delete("b");
  held.set("c", { ...BOB, id: "c" });
  server.dropAll();
  await cli.until(({ out }) => /ready[^]*ready/.test(out));
  t.match(eventsOf(cli).slice(3), [
    { event: "lost", code: "CONNECTION_LOST" },
    { event: "remove", id: "b" },
    { event: "add", id: "c" },
    { event: "ready", total: 2 },
  ]);
  t.same(delays, [1000]);
});

t.test(
  "when the server is stopping, the watch continues on another one at once",
  async (t) => {
    const { server, env } = await start(t);
    const delays: number[] = [];
    const delay = async (ms: number) => {
      delays.push(ms);
    };
    const cli = new Cli(t, ["watch", "VM", "--json"], { env, delay });
    await cli.until(({ out }) => out.includes("ready"));
    server.closeAll();
    await cli.until(({ out }) => /ready[^]*ready/.test(out));
    t.same(delays, [50]);
  },
);

t.test("a reset of the server replaces all rows", async (t) => {
  const { server, env } = await start(t);
  const cli = new Cli(t, ["watch", "VM", "--json"], { env });
  await cli.until(({ out }) => out.includes("ready"));
  server.notify("query", {
    ...EMPTY,
    reset: true,
    splice: { at: 0, remove: 0, insert: ["a"] },
    objects: { a: { ...ADA, name_label: "eve" } },
  });
  await cli.until(({ lines }) => lines.length === 5);
  t.match(eventsOf(cli).slice(3), [
    { event: "remove", id: "b" },
    { event: "change", id: "a", changed: ["name_label"] },
  ]);
});

t.test("a server that is unreachable at first is an error", async (t) => {
  const { server, env } = await start(t);
  await server.stop();
  const cli = await runCli(t, ["watch", "vm"], { env });
  t.equal(cli.code, 4);
  t.match(
    cli.err,
    /CONNECTION_REFUSED\)\nhint: check that the server is running/,
  );
});

t.test("it tries ever more rarely, and a refusal ends it", async (t) => {
  const { server, env } = await start(t);
  const delays: number[] = [];
  const delay = async (ms: number) => {
    delays.push(ms);
  };
  const cli = new Cli(t, ["watch", "vm", "--json"], { env, delay });
  await cli.until(({ out }) => out.includes("ready"));
  let tries = 0;
  server.methods["query.open"] = (_params, socket) => {
    if (++tries < 7) socket.terminate();
    else throw new RpcError(2, "not enough permissions");
  };
  server.dropAll();
  t.equal(await cli.ended, 3);
  t.same(delays, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  t.equal(cli.lines.filter((line) => line.includes("lost")).length, 1);
});

t.test(
  "servers without queries are followed by their notifications",
  async (t) => {
    const server = await FakeServer.start(t);
    server.methods["xo.getAllObjects"] = (_params, socket) => {
      const message = { type: "exit", items: { b: 0 } };
      socket.send(
        JSON.stringify({ jsonrpc: "2.0", method: "all", params: message }),
      );
      return { a: ADA, b: BOB };
    };
    const env = { XO_SERVER: server.url, XO_TOKEN: TOKEN };
    const cli = new Cli(t, ["watch", "vm", "--json"], { env });
    await cli.until(({ lines }) => lines.length === 4);
    server.notify("all", {
      type: "enter",
      items: { a: { ...ADA, tags: ["x"] }, h: { id: "h", type: "host" } },
    });
    await cli.until(({ lines }) => lines.length === 5);
    t.match(eventsOf(cli), [
      { event: "add", id: "a" },
      { event: "add", id: "b" },
      { event: "ready" },
      { event: "remove", id: "b" },
      { event: "change", id: "a", changed: ["tags"] },
    ]);
    const filtered = ["watch", "vm", "--filter", "tags:x"];
    t.equal((await runCli(t, filtered, { env })).code, 2);
  },
);

t.test("a reader can stop reading", async (t) => {
  const { server, env } = await start(t);
  const options = { env, readerLeavesAfter: 10 };
  const cli = new Cli(t, ["watch", "vm", "--json"], options);
  await cli.until(({ out }) => out !== "");
  server.notify("query", { ...EMPTY, patches: { a: { power_state: "x" } } });
  t.equal(await cli.ended, 0);
});
