import t from "tap";
import { JsonRpcClient } from "../src/api/json-rpc-client.js";
import {
  ConnectionLostError,
  mayHaveRun,
  NotConnectedError,
  NoAnswerError,
  RpcError,
} from "../src/api/rpc-error.js";
import { FakeClock } from "./fake-clock.js";
import { FakeServer, settled } from "./fake-server.js";

function connected() {
  const { client, clock, server, ...rest } = started();
  server.last.accept();
  return { client, clock, server, ...rest };
}

function started() {
  const clock = new FakeClock();
  const server = new FakeServer();
  const states: string[] = [];
  const notes: unknown[] = [];
  const client = new JsonRpcClient({
    url: "ws://server/api/",
    openSocket: server.openSocket,
    clock,
    random: () => 1,
    onState: (state) => states.push(state.name),
    onNotification: (method, params) => notes.push([method, params]),
  });
  client.start();
  return { client, clock, server, states, notes };
}

t.test("a call is answered by the result with its id", async (t) => {
  const { client, server } = connected();
  const first = client.call("a.b", { x: 1 });
  const second = client.call("c");
  const [one, two] = server.last.requests;
  t.match(one, { jsonrpc: "2.0", method: "a.b", params: { x: 1 } });
  t.match(two, { jsonrpc: "2.0", method: "c", params: {} });
  server.last.say({ jsonrpc: "2.0", id: two!.id, result: "two" });
  server.last.say({ jsonrpc: "2.0", id: one!.id, result: "one" });
  t.equal(await first, "one");
  t.equal(await second, "two");
});

t.test("an error of the server keeps its code", async (t) => {
  const { client, server } = connected();
  const call = client.call("a");
  server.last.refuse(-32601, "no such method: a");
  await t.rejects(call, new RpcError(-32601, "no such method: a"));
});

t.test("a call while disconnected is rejected immediately", async (t) => {
  const { client } = started();
  await t.rejects(client.call("a"), NotConnectedError);
  t.notOk(mayHaveRun(new NotConnectedError()), "it was not sent");
  t.ok(mayHaveRun(new ConnectionLostError("gone")));
});

t.test("a call without an answer ends after two minutes", async (t) => {
  const { client, clock } = connected();
  const call = client.call("a");
  clock.pass(119_000);
  t.equal(client.state.name, "open");
  const isEarly = await Promise.race([
    call.catch(() => true),
    settled().then(() => false),
  ]);
  t.equal(isEarly, false, "a slow network takes this long");
  clock.pass(1_000);
  await t.rejects(call, NoAnswerError);
});

t.test("notifications are passed on", async (t) => {
  const { server, notes } = connected();
  server.last.notify("status", { n: 1 });
  t.same(notes, [["status", { n: 1 }]]);
});

t.test(
  "a lost connection is reopened, with delays that double up to ten seconds",
  async (t) => {
    const { client, clock, server, states } = started();
    const pauses: number[] = [];
    for (let i = 0; i < 7; i += 1) {
      server.last.breakOff();
      const { state } = client;
      if (state.name !== "waiting") throw new Error(state.name);
      pauses.push(state.retryAt - clock.now());
      clock.pass(pauses.at(-1)! - 1);
      t.equal(server.connections.length, i + 1, "not before the pause is over");
      clock.pass(1);
      t.equal(server.connections.length, i + 2);
    }
    t.same(pauses, [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    t.same(states.slice(0, 3), ["connecting", "waiting", "connecting"]);
  },
);

t.test(
  "when the server is stopping, another one is tried at once, and a second time only after a delay",
  async (t) => {
    const { client, clock, server } = connected();
    server.last.notify("status", {});
    server.last.breakOff(1001);
    t.match(client.state, { name: "waiting", retryAt: clock.now() + 100 });
    clock.pass(100);
    t.equal(server.connections.length, 2);
    server.last.breakOff(1001);
    t.match(client.state, { name: "waiting", retryAt: clock.now() + 500 });
  },
);

t.test("delays are short again after a useful response", async (t) => {
  const { client, clock, server } = started();
  for (let i = 0; i < 5; i += 1) {
    server.last.breakOff();
    clock.pass(10_000);
  }
  server.last.accept();
  server.last.notify("status", {});
  server.last.breakOff();
  t.match(client.state, { name: "waiting", retryAt: clock.now() + 500 });
});

t.test("a server that only refuses is not hurried", async (t) => {
  const { client, clock, server } = started();
  for (let i = 0; i < 3; i += 1) {
    server.last.accept();
    const call = client.call("a");
    server.last.refuse(-32000, "not now");
    await t.rejects(call, RpcError);
    client.reconnect("refused");
    clock.pass(10_000);
  }
  server.last.breakOff();
  t.match(client.state, { name: "waiting", retryAt: clock.now() + 4000 });
});

t.test("open calls are rejected when the connection is lost", async (t) => {
  const { client, server } = connected();
  const call = client.call("a");
  server.last.breakOff();
  await t.rejects(call, ConnectionLostError);
});

t.test("retryNow does not wait for the pause to end", async (t) => {
  const { client, server } = started();
  server.last.breakOff();
  client.retryNow();
  t.equal(server.connections.length, 2);
  client.retryNow();
  t.equal(server.connections.length, 2, "and does nothing while connecting");
});

t.test(
  "a server that accepts no connection in time is abandoned",
  async (t) => {
    const { client, clock, server } = started();
    clock.pass(10_000);
    t.equal(client.state.name, "waiting");
    t.ok(server.last.closedByClient);
  },
);

t.test(
  "late messages of an old connection are not read as the new one's",
  async (t) => {
    const { client, server, notes } = connected();
    const old = server.last;
    client.reconnect("silent");
    client.retryNow();
    old.notify("status", { old: true });
    old.breakOff();
    t.same(notes, []);
    t.equal(client.state.name, "connecting");
  },
);

t.test("a message that is not JSON-RPC ends the connection", async (t) => {
  for (const bad of ["{", "[]", "1", '{"id":1}', '{"jsonrpc":"2.0"}']) {
    const { client, server } = connected();
    server.last.say(bad);
    t.equal(client.state.name, "waiting", bad);
    t.ok(server.last.closedByClient);
  }
});

t.test(
  "a stopped client stays stopped, and can be started again",
  async (t) => {
    const { client, clock, server } = connected();
    const call = client.call("a");
    client.stop();
    await t.rejects(call, ConnectionLostError);
    server.last.breakOff();
    clock.pass(60_000);
    t.equal(server.connections.length, 1);
    client.start();
    t.equal(server.connections.length, 2);
  },
);
