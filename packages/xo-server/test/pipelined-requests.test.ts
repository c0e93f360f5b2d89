import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import t, { type Test } from "tap";
import { createHttpServer } from "../src/api/http/http-server.js";
import { RequestTurns } from "../src/api/http/request-turns.js";
import { LimitHits } from "../src/limits/limit-hits.js";

interface Begun {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** A server whose responses are ended by the test, and a connection to it. */
async function setUp(t: Test) {
  const begun: Begun[] = [];
  const hits = new LimitHits();
  const http = {
    maxHeaderBytes: 16_384,
    maxConnections: 100,
    headersTimeoutMs: 60_000,
  };
  const server = createHttpServer(
    { http, tls: undefined, hits },
    (request, response) => void begun.push({ request, response }),
  ).listen(0, "127.0.0.1");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  t.teardown(() => socket.destroy());
  await once(socket, "connect");
  return { begun, hits, socket };
}

function request(socket: Socket, ...paths: readonly string[]): void {
  const heads = paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  socket.write(heads.join(""));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++)
    await new Promise((resolve) => setImmediate(resolve));
}

t.test(
  "requests that arrive together on a connection are handled one after the other, in order",
  async (t) => {
    const { begun, socket } = await setUp(t);
    let answer = "";
    socket.on("data", (bytes) => (answer += String(bytes)));
    request(socket, "/1", "/2", "/3");
    for (const path of ["/1", "/2", "/3"]) {
      await until(() => begun.at(-1)?.request.url === path);
      await fewTurns();
      const last = begun.at(-1)!;
      t.equal(last.request.url, path, "nothing further before its response");
      last.response.end(`response to ${path}`);
    }
    await until(() => answer.includes("response to /3"));
    t.same(answer.match(/response to \/\d/g), [
      "response to /1",
      "response to /2",
      "response to /3",
    ]);
    t.equal(begun.length, 3);
    request(socket, "/4");
    await until(() => begun.length === 4);
  },
);

t.test("a connection with too many waiting requests is closed", async (t) => {
  const { begun, hits, socket } = await setUp(t);
  const closed = once(socket.resume(), "close");
  socket.on("error", () => undefined);
  request(socket, ...Array.from({ length: 100 }, (_, i) => `/${i}`));
  await closed;
  t.equal(hits.read()["pipelined_requests"], 1);
  await fewTurns();
  t.same(
    begun.map(({ request }) => request.url),
    ["/0"],
    "waiting ones are never begun",
  );
});

t.test("requests are begun only for some time in each turn", async (t) => {
  let now = 0;
  const turns: (() => void)[] = [];
  const queue = new RequestTurns({
    now: () => now,
    nextTurn: (callback) => turns.push(callback),
  });
  const begun: number[] = [];
  const run = (from: number, to: number) => {
    for (let i = from; i < to; i++)
      queue.run(() => {
        begun.push(i);
        now += 4;
      });
  };
  const nextTurn = () => {
    for (const callback of turns.splice(0)) callback();
  };
  run(0, 8);
  t.same(begun, [0, 1, 2], "12 ms");
  nextTurn();
  t.same(begun, [0, 1, 2, 3, 4, 5]);
  run(8, 9);
  t.equal(begun.length, 6, "later ones wait behind them");
  nextTurn();
  t.same(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  nextTurn();
  run(9, 10);
  t.equal(begun.length, 10, "at once in a turn of its own");
});

t.test("an error while a request is begun does not stop others", async (t) => {
  let now = 0;
  const turns: (() => void)[] = [];
  const queue = new RequestTurns({
    now: () => now,
    nextTurn: (callback) => turns.push(callback),
  });
  const begun: string[] = [];
  queue.run(() => (now = 20));
  queue.run(() => {
    throw new Error("broken");
  });
  queue.run(() => begun.push("next"));
  t.throws(() => turns.shift()!(), /broken/);
  turns.shift()!();
  t.same(begun, ["next"]);
});
