import { EventEmitter } from "node:events";
import t from "tap";
import type { WebSocket } from "ws";
import { SendQueue } from "../src/api/json-rpc/send-queue.js";
import { JsonStream } from "../src/encoding/raw-json.js";
import { FakeClock } from "./fake-clock.js";

interface Frame {
  readonly data: string;
  readonly fin?: boolean;
}

/** A socket whose other end takes what it has been sent when the test says so. */
class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isTerminated = false;
  readonly frames: Frame[] = [];
  readonly #done: (() => void)[] = [];

  send(
    data: string | Buffer,
    { fin = true }: { fin?: boolean },
    done = () => undefined as void,
  ): void {
    this.bufferedAmount += data.length;
    this.frames.push({ data: data.toString(), fin });
    this.#done.push(done);
  }

  take(): void {
    this.bufferedAmount = 0;
    for (const done of this.#done.splice(0)) done();
  }

  terminate(): void {
    this.isTerminated = true;
    this.readyState = 3;
    this.take();
  }
}

/** Says which messages had been sent whenever it lets go of what it held back. */
class FakeWire {
  readonly writes: string[][] = [];
  readonly #socket: FakeSocket;
  #isCorked = false;

  constructor(socket: FakeSocket) {
    this.#socket = socket;
  }

  cork(): void {
    if (this.#isCorked) throw new Error("corked twice");
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    const sentFrames = this.writes.flat().length;
    this.writes.push(
      this.#socket.frames.slice(sentFrames).map(({ data }) => data),
    );
  }
}

function setUp() {
  const socket = new FakeSocket();
  const wire = new FakeWire(socket);
  const clock = new FakeClock();
  let stuck = 0;
  let behind = 0;
  const outbox = new SendQueue({
    socket: socket as unknown as WebSocket,
    connection: wire,
    clock,
    maxBufferedBytes: 4_000_000,
    onStalled: () => {
      stuck++;
      socket.terminate();
    },
    onBehind: () => {
      behind++;
    },
  });
  const counts = { stuck: () => stuck, behind: () => behind };
  return { socket, wire, clock, outbox, ...counts };
}

/** Promises that are ready have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A stream that counts what was asked of it. */
function countedStream(parts: number, bytes: number) {
  const seen = { created: 0, isOver: false };
  async function* make() {
    try {
      while (seen.created < parts) {
        seen.created++;
        yield Buffer.alloc(bytes, 120);
      }
    } finally {
      seen.isOver = true;
    }
  }
  return { seen, stream: new JsonStream(make()) };
}

t.test(
  "that a client has much unread is reported for messages and parts of streams",
  async (t) => {
    const { socket, outbox, behind } = setUp();
    outbox.send("x".repeat(200_000));
    t.equal(behind(), 0);
    outbox.send("x".repeat(100_000));
    t.equal(behind(), 1);
    t.equal(outbox.unsentBytes, 300_000);
    socket.take();
    outbox.send(countedStream(3, 200_000).stream);
    await settle();
    t.equal(behind(), 2, "before the third part");
    const waiting = "x".repeat(300_000);
    outbox.send(countedStream(1, 2_000_000).stream);
    await settle();
    const before = behind();
    outbox.send(waiting);
    t.equal(behind(), before + 1, "also what waits for the end of a stream");
  },
);

t.test("a stream is one message in fragments", async (t) => {
  const { socket, outbox } = setUp();
  outbox.send(countedStream(3, 2).stream);
  await settle();
  t.same(socket.frames, [
    { data: "xx", fin: false },
    { data: "xx", fin: false },
    { data: "xx", fin: false },
    { data: "", fin: true },
  ]);
});

t.test("nothing is sent between the fragments of a message", async (t) => {
  const { socket, outbox } = setUp();
  outbox.send(countedStream(1, 1).stream);
  outbox.send("answer");
  t.notOk(outbox.trySend(Buffer.from("notification")));
  outbox.send(countedStream(1, 1).stream);
  outbox.send("last");
  await settle();
  t.same(
    socket.frames.map(({ data }) => data),
    ["x", "", "answer", "x", "", "last"],
  );
  t.ok(outbox.trySend(Buffer.from("notification")));
});

t.test("a stream is produced no faster than it is read", async (t) => {
  const { socket, outbox } = setUp();
  const { seen, stream } = countedStream(1000, 100_000);
  outbox.send(stream);
  await settle();
  const ahead = seen.created;
  t.ok(ahead < 20, `${ahead} parts are made ahead`);
  await settle();
  t.equal(seen.created, ahead, "without a reader nothing is encoded");
  socket.take();
  await settle();
  t.ok(seen.created > ahead, "there is room again");
});

t.test("a client that reads nothing of a stream is disconnected", async (t) => {
  const { socket, clock, outbox, stuck } = setUp();
  const { seen, stream } = countedStream(1000, 100_000);
  outbox.send(stream);
  await settle();
  clock.pass(59_000);
  t.equal(stuck(), 0);
  clock.pass(2_000);
  t.equal(stuck(), 1);
  await settle();
  t.ok(seen.isOver, "the creator of the stream is notified");
  t.equal(clock.waiting, 0);
  t.ok(socket.isTerminated);
});

t.test("the queue behind a stream is limited", async (t) => {
  const { outbox, stuck } = setUp();
  outbox.send(countedStream(1000, 100_000).stream);
  await settle();
  for (let i = 0; i < 1000 && stuck() === 0; i++)
    outbox.send("y".repeat(10_000));
  t.equal(stuck(), 1);
});

t.test("streams that wait are bounded, too", async (t) => {
  const { outbox, stuck } = setUp();
  for (let i = 0; i < 200 && stuck() === 0; i++)
    outbox.send(countedStream(1000, 100_000).stream);
  t.equal(stuck(), 1);
});

t.test("a stream that fails ends the connection, not the server", async (t) => {
  const { socket, outbox } = setUp();
  async function* fail() {
    yield Buffer.from("{");
    throw new Error("the catalog was stopped");
  }
  outbox.send(new JsonStream(fail()));
  await settle();
  t.ok(socket.isTerminated);
});

t.test("a disconnected client is sent nothing", async (t) => {
  const { socket, outbox } = setUp();
  socket.readyState = 3;
  outbox.send("x");
  t.notOk(outbox.trySend(Buffer.from("x")));
  t.same(socket.frames, []);
});

t.test("messages of one turn are sent in one write", async (t) => {
  const { wire, outbox } = setUp();
  outbox.send("a");
  outbox.trySend(Buffer.from("b"));
  // Answers to calls that came together are made in microtasks.
  await Promise.resolve().then(() => {
    outbox.send("c");
  });
  await settle();
  outbox.send("d");
  await settle();
  t.same(wire.writes, [["a", "b", "c"], ["d"]]);
});

t.test(
  "the creator of a stream is notified of the parts that were sent",
  async (t) => {
    const { socket, outbox } = setUp();
    const sent: string[] = [];
    async function* make() {
      yield Buffer.from("a");
      yield Buffer.from("b");
    }
    outbox.send(new JsonStream(make(), (part) => sent.push(part.toString())));
    await settle();
    t.same(sent, [], "they wait to go out");
    socket.take();
    t.same(sent, ["a", "b"]);
  },
);
