import { EventEmitter } from "node:events";
import t from "tap";
import type { WebSocket } from "ws";
import { ApiClient } from "../src/api/json-rpc/api-client.js";
import { LimitHits } from "../src/limits/limit-hits.js";
import { RateLimits } from "../src/limits/rate-limits.js";
import { createLoggers } from "../src/log/logger.js";
import { FakeClock } from "./fake-clock.js";

/** A socket whose other end reads nothing of what is sent. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  readonly sent: string[] = [];
  closedWith: number | undefined;

  send(data: string | Buffer): void {
    this.sent.push(String(data));
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  close(code: number): void {
    this.closedWith ??= code;
  }

  terminate(): void {
    this.readyState = 3;
  }
}

function setUp(
  maxMessagesPerSecond = 100,
  handle = (text: string) => Promise.resolve(`answer to ${text}`),
) {
  const lateEnds: string[] = [];
  const socket = new FakeSocket();
  const clock = new FakeClock();
  const client = new ApiClient({
    socket: socket as unknown as WebSocket,
    address: "192.0.2.7",
    rateKey: "192.0.2.7",
    userRates: new RateLimits(1000, clock),
    limits: { setAnonymous: () => undefined },
    hits: new LimitHits(),
    maxDepth: 64,
    jsonRpc: { handle },
    permission: "guest",
    clock,
    logger: createLoggers({ level: "silent" }).named("x"),
    maxMessagesPerSecond,
    maxBufferedBytes: 1_000_000,
    onLateEnd: () => {
      lateEnds.push("ended");
    },
  });
  const say = (text: string) =>
    socket.emit("message", Buffer.from(text), false);
  return { socket, clock, client, say, lateEnds };
}

/** Promises that are ready have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

t.test(
  "a notification is skipped while too much waits to go out",
  async (t) => {
    const { socket, client } = setUp();
    t.ok(client.trySend(Buffer.from("1")));
    socket.bufferedAmount = 300_000;
    t.notOk(client.trySend(Buffer.from("2")));
    socket.bufferedAmount = 0;
    t.ok(client.trySend(Buffer.from("3")));
    t.same(socket.sent, ["1", "3"]);
  },
);

t.test("a client that does not read responses is disconnected", async (t) => {
  const { socket, say } = setUp();
  socket.bufferedAmount = 2_000_000;
  say("a");
  await settle();
  t.equal(socket.closedWith, 1008);
  t.equal(socket.readyState, 3);
});

t.test(
  "calls in progress are answered before the end of a session closes it",
  async (t) => {
    const { socket, client, say } = setUp();
    say("restore");
    client.close("session expired", { answersFirst: true });
    t.equal(socket.closedWith, undefined);
    t.notOk(client.trySend(Buffer.from("news")), "nothing else is sent");
    await settle();
    t.same(socket.sent, ["answer to restore"]);
    t.equal(socket.closedWith, 1001);

    const slow = setUp(100, () => new Promise(() => undefined));
    slow.say("wait for hours");
    slow.client.close("session expired", { answersFirst: true });
    slow.clock.pass(5_000);
    t.equal(slow.socket.closedWith, 1001, "not for ever");

    const idle = setUp();
    idle.client.close("session expired", { answersFirst: true });
    t.equal(idle.socket.closedWith, 1001, "without calls at once");
  },
);

t.test(
  "above the rate the socket is not read, and no message is lost",
  async (t) => {
    const { socket, clock, say } = setUp(2);
    for (const text of ["a", "b", "c", "d"]) say(text);
    await settle();
    t.same(socket.sent, ["answer to a", "answer to b"]);
    t.ok(socket.isPaused);
    clock.pass(500);
    await settle();
    t.equal(socket.sent.length, 3);
    clock.pass(500);
    await settle();
    t.equal(socket.sent.length, 4);
    t.notOk(socket.isPaused);
  },
);

t.test(
  "a client that disconnects while it waits leaves nothing behind",
  async (t) => {
    const { socket, clock, say } = setUp(1);
    for (const text of ["a", "b", "c"]) say(text);
    socket.emit("close");
    t.equal(clock.waiting, 0);
  },
);

t.test("clients take turns after a number of messages", async (t) => {
  const { socket, say } = setUp(1_000_000);
  const all = Array.from({ length: 200 }, (_, i) => String(i));
  // One chunk of the socket: no other client is served meanwhile.
  for (const one of all) say(one);
  await Promise.resolve();
  t.ok(socket.isPaused);
  t.ok(socket.sent.length < 100, `${socket.sent.length} in the first turn`);
  while (socket.isPaused) await new Promise(setImmediate);
  await new Promise(setImmediate);
  t.same(
    socket.sent,
    all.map((one) => `answer to ${one}`),
    "and nothing is lost",
  );
});

t.test(
  "what a call subscribes after the client has disconnected can be removed",
  async (t) => {
    let end: (answer: string) => void = () => undefined;
    const { socket, say, lateEnds } = setUp(
      100,
      () => new Promise((resolve) => (end = resolve)),
    );
    say("sign in");
    end("done");
    await settle();
    say("sign in slowly");
    socket.emit("close");
    await settle();
    t.same(lateEnds, [], "one ended before, the other has not ended");
    end("done");
    await settle();
    t.same(lateEnds, ["ended"]);
  },
);
