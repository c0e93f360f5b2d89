import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { WebSocket, WebSocketServer } from "ws";
import { ConsoleConnection } from "../src/consoles/console-connection.js";
import { FakeClock } from "./fake-clock.js";

const PING_MS = 20_000;
const MiB = 2 ** 20;

/** Both ends of a socket on loopback; they end with the test. */
async function connect(t: Test) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  const [socket] = (await once(server, "connection")) as [WebSocket];
  await once(client, "open");
  t.teardown(async () => {
    client.terminate();
    socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return { client, socket };
}

/** A console that sends as much as is read, and reads nothing until the test says so. */
class FakeConsole extends Duplex {
  shown = 0;
  taken = 0;
  readonly #chunk = Buffer.alloc(64 * 1024);
  #done: (() => void) | undefined;
  #isTaking = false;
  readonly #total: number;

  constructor(total = Infinity) {
    super({ readableHighWaterMark: 64 * 1024 });
    this.#total = total;
  }

  override _read(): void {
    // As a socket does: not in the same turn.
    setImmediate(() => {
      if (this.shown >= this.#total) return;
      this.#chunk.fill(this.shown % 251);
      this.shown += this.#chunk.length;
      this.push(Buffer.from(this.#chunk));
    });
  }

  override _write(bytes: Buffer, _: string, done: () => void): void {
    this.taken += bytes.length;
    if (this.#isTaking) done();
    else this.#done = done;
  }

  beginTaking(): void {
    this.#isTaking = true;
    this.#done?.();
  }
}

async function begin(t: Test, stream: FakeConsole) {
  const { client, socket } = await connect(t);
  const clock = new FakeClock();
  let objection: string | undefined;
  const session = new ConsoleConnection({
    socket,
    stream,
    clock,
    pingMs: PING_MS,
    reasonToEnd: () => objection,
  });
  const object = (reason: string) => {
    objection = reason;
  };
  return { client, clock, session, socket, object };
}

/** Until a figure does not grow any more. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1, same = 0; ;) {
    const now = read();
    same = now === last ? same + 1 : 0;
    if (same === 20) return now;
    last = now;
    await pause(5);
  }
}

t.test(
  "no more rows are created for a reader that does not read",
  async (t) => {
    const total = 64 * MiB;
    const stream = new FakeConsole(total);
    const { client } = await begin(t, stream);
    client.pause();
    const ahead = await settled(() => stream.shown);
    // What the two sockets of the system hold is not ours.
    t.ok(ahead > 0 && ahead < 24 * MiB, `${ahead / MiB} MiB were asked for`);
    t.ok(stream.isPaused());
    let read = 0;
    let isWhole = true;
    client.on("message", (data: Buffer) => {
      isWhole &&= data[0] === read % 251 && data.at(-1) === read % 251;
      read += data.length;
      if (read === total) client.close();
    });
    client.resume();
    await once(client, "close");
    t.equal(read, total, "nothing was lost");
    t.ok(isWhole, "nothing was mixed up");
  },
);

t.test(
  "a console that stops reading gets no more data from the client",
  async (t) => {
    const stream = new FakeConsole(0);
    const { client, session } = await begin(t, stream);
    const piece = Buffer.alloc(MiB / 2);
    for (let sent = 0; sent < 64; sent++) client.send(piece);
    const waiting = await settled(() => session.traffic.bytesFromClient);
    t.ok(waiting > 0 && waiting < 8 * MiB, `${waiting / MiB} MiB wait here`);
    stream.beginTaking();
    await settled(() => stream.taken);
    t.equal(stream.taken, 32 * MiB);
    t.equal(session.traffic.bytesFromClient, 32 * MiB);
  },
);

t.test("it ends when the console does, with all its output", async (t) => {
  const stream = new FakeConsole(0);
  const { client, session } = await begin(t, stream);
  const said: Buffer[] = [];
  client.on("message", (data: Buffer) => said.push(data));
  stream.push("goodbye");
  stream.push(null);
  const [code] = (await once(client, "close")) as [number];
  t.equal(code, 1000);
  t.equal(Buffer.concat(said).toString(), "goodbye");
  t.equal(await session.ended, "the console has ended");
  t.same(session.traffic, { bytesToClient: 7, bytesFromClient: 0 });
});

t.test("a lost console connection ends the session", async (t) => {
  const stream = new FakeConsole(0);
  const { client, session } = await begin(t, stream);
  stream.destroy();
  await once(client, "close");
  t.match(await session.ended, /was lost/);
});

t.test("a console ends once when its client disconnects", async (t) => {
  const stream = new FakeConsole();
  const { client, session } = await begin(t, stream);
  client.terminate();
  t.equal(await session.ended, "closed by the client");
  t.ok(stream.destroyed);
  session.close("too late");
  t.equal(await session.ended, "closed by the client");
});

t.test("a vanished client is disconnected at the second check", async (t) => {
  const stream = new FakeConsole(0);
  const { client, clock, session, socket } = await begin(t, stream);
  for (let looks = 0; looks < 3; looks++) {
    const answered = once(socket, "pong");
    clock.pass(PING_MS);
    await answered;
  }
  client.pause();
  clock.pass(PING_MS);
  clock.pass(PING_MS);
  t.equal(await session.ended, "the client does not answer");
  t.ok(stream.destroyed);
});

t.test(
  "a refusal ends the session, immediately or at the next check",
  async (t) => {
    const { client, object, clock } = await begin(t, new FakeConsole(0));
    object("not allowed any more");
    clock.pass(PING_MS);
    const [code, reason] = (await once(client, "close")) as [number, Buffer];
    t.equal(code, 1008);
    t.equal(reason.toString(), "not allowed any more");
  },
);

t.test("the end of the server is distinguished from that", async (t) => {
  const { client, session } = await begin(t, new FakeConsole(0));
  session.close();
  const [code] = (await once(client, "close")) as [number];
  t.equal(code, 1001);
});
