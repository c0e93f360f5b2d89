import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import type { RelayRequest } from "@xo-server/xen-api";
import t from "tap";
import { FrameReader, FrameWriter } from "../src/event-relay/event-frames.js";
import { createRelay } from "../src/event-relay/event-relays.js";
import { senderOf } from "../src/event-relay/event-sender.js";
import { RETRY_MS } from "../src/event-relay/relay-client.js";
import { RelayedEvents, SILENT_MS } from "../src/event-relay/relayed-events.js";
import { EVENTS_HEADER } from "../src/event-relay/relay-messages.js";
import {
  DIGESTS_MS,
  HEARTBEAT_MS,
  MAX_ANSWER_BYTES,
} from "../src/event-relay/relay-server.js";
import { FakeClock } from "./fake-clock.js";
import { addServer, until } from "./peer-servers.js";
import {
  createCluster,
  addSender,
  answerOf,
  tokenOf,
  FOLLOWED,
  createClient,
  requestOf,
} from "./relay-servers.js";

t.test("a server receives the answers of XAPI from another one", async (t) => {
  const cluster = await createCluster(t);
  const { events, peer, publish } = await addSender(t, cluster);
  const { client, next, open } = createClient(t, cluster, peer);
  await publish(100);
  await open();
  const first = await publish(101, "a", "b");
  const second = await publish(102, "c");
  t.equal(await next(100), first);
  t.match(first, /VM a ✓.*"operation":"del","ref":"OpaqueRef:gone"}/);
  t.equal(await next(101), second);
  const waiting = next(102);
  const third = await publish(103);
  t.equal(
    await waiting,
    third,
    "an answer without changes: XAPI still answers",
  );
  t.match(client.figures, { streams: 1, answers: 3, failed: 0 });
  t.match(events.figures, { streams: 1, answers: 3, refused: 0 });
});

t.test(
  "digests are compared when both servers have applied the same events, and no later ones",
  async (t) => {
    const cluster = await createCluster(t);
    const theirs = { VM: "1".repeat(16) };
    // The clock of the receiver stands still: it waits for no heartbeats.
    const clock = new FakeClock();
    const sender = { digests: theirs, clock };
    const { events, peer, publish } = await addSender(t, cluster, sender);
    const { client, next, open, compared } = createClient(t, cluster, peer);
    const sendDigests = (n: number) => {
      clock.pass(DIGESTS_MS);
      events.onApplied("p", tokenOf(n));
    };
    await publish(100);
    await open();
    await publish(101, "a");
    sendDigests(101);
    await next(100);
    t.same(compared, [], "the mirror has not applied the answer");
    client.onApplied("p", tokenOf(101));
    t.same(compared, [["p", "xo2", theirs]]);

    await publish(102, "b");
    await next(101);
    client.onApplied("p", tokenOf(102));
    sendDigests(102);
    await publish(103, "c");
    await next(102);
    t.equal(compared.length, 2, "digests that come later than the answer");

    client.onApplied("p", tokenOf(103));
    client.onAnswer("p");
    sendDigests(103);
    await publish(104, "d");
    await next(103);
    client.onApplied("p", tokenOf(104));
    t.equal(compared.length, 2, "an answer of XAPI is being applied");

    events.onApplied("p", tokenOf(104));
    events.onApplied("p", tokenOf(103));
    await publish(105, "e");
    await next(104);
    t.equal(compared.length, 2, "at intervals, and not of an old state");
  },
);

t.test(
  "a server that requested events from XAPI meanwhile skips older answers of the relay",
  async (t) => {
    const cluster = await createCluster(t);
    const { peer, publish } = await addSender(t, cluster);
    const { next, open } = createClient(t, cluster, peer);
    await publish(100);
    await open();
    await publish(101, "a");
    await publish(102, "b");
    const third = await publish(104, "c");
    t.equal(await next(103), third);
    const idle = await publish(105);
    t.equal(await next(105), idle, "as new as what the server has");
  },
);

t.test(
  "a server whose token is older than the stream requests events from XAPI first",
  async (t) => {
    const cluster = await createCluster(t);
    const { peer, publish } = await addSender(t, cluster);
    const { client, next, open } = createClient(t, cluster, peer);
    await publish(100);
    await open(90);
    const answer = await publish(101, "a");
    t.equal(await next(99), undefined);
    t.equal(
      await client.next("p", peer, requestOf({ token: "100,0" })),
      undefined,
      "a token of event.inject has no message generation",
    );
    t.equal(client.figures.streams, 1);
    t.equal(await next(100), answer);
  },
);

t.test(
  "after the end of a stream events come from XAPI, and the stream is opened again after some seconds",
  async (t) => {
    const cluster = await createCluster(t);
    const { events, peer, publish } = await addSender(t, cluster);
    const { client, next, open } = createClient(t, cluster, peer);
    await publish(100);
    await open();
    const waiting = next(100);
    events.end("p");
    t.equal(await waiting, undefined);
    t.match(client.figures, { streams: 0, failed: 1 });
    t.match(cluster.lines.join(), /requested from XAPI, not from server xo2/);
    await publish(101);
    t.equal(await next(101), undefined);
    t.equal(events.figures.streams, 0);
    cluster.clock.pass(RETRY_MS);
    await open(101);
    const answer = await publish(102, "a");
    t.equal(await next(101), answer);
  },
);

t.test("answers of another XAPI end the streams", async (t) => {
  const cluster = await createCluster(t);
  const { events, peer, publish } = await addSender(t, cluster);
  const { next, open } = createClient(t, cluster, peer);
  await publish(100);
  await open();
  const waiting = next(100);
  const issuer = "OpaqueRef:1 2.";
  events.publish("p", await answerOf(2, "a"), { ...FOLLOWED, issuer });
  t.equal(await waiting, undefined);
});

t.test("a stream without changes has heartbeats", async (t) => {
  const cluster = await createCluster(t);
  const { publish, send } = await addSender(t, cluster);
  await publish(100);
  const key = (answer: string) =>
    Buffer.from(cluster.messages.openAnswer(answer, answerId)!.key, "base64");
  const { sealed, answerId } = cluster.messages.sealRequest({
    ...FOLLOWED,
    poolId: "p",
    from: "xo1",
    to: "1 xo2",
  });
  const response = await send(sealed);
  const reader = new FrameReader(key(response.headers.get(EVENTS_HEADER)!), 0);
  const body = response.body!.getReader();
  for (let beat = 0; beat < 3; beat++) {
    const read = (await body.read()) as { readonly value?: Uint8Array };
    t.same(reader.read(Buffer.from(read.value ?? [])).map(String), [""]);
    cluster.clock.pass(HEARTBEAT_MS);
  }
  await body.cancel();
});

t.test("a stream without heartbeats is closed", async (t) => {
  const clock = new FakeClock();
  const key = randomBytes(32);
  const writer = new FrameWriter(key);
  const body = new PassThrough();
  const reasons: string[] = [];
  const events = new RelayedEvents({
    body,
    key,
    from: tokenOf(1),
    clock,
    onDigests: () => undefined,
    onClose: (reason) => reasons.push(reason),
  });
  const waiting = events.next({
    token: tokenOf(1),
    waitMs: 60_000,
    signals: [],
  });
  for (let passed = 0; passed < 3 * SILENT_MS; passed += HEARTBEAT_MS) {
    body.write(writer.write(Buffer.alloc(0)));
    await new Promise((resolve) => setImmediate(resolve));
    clock.pass(HEARTBEAT_MS);
  }
  t.same(reasons, []);
  clock.pass(SILENT_MS - HEARTBEAT_MS);
  t.same(reasons, ["nothing was received for 3 s"]);
  t.equal(await waiting, undefined);
  t.ok(body.destroyed);
  t.equal(clock.waiting, 0, "no timers are left");
});

t.test("waiting ends in time, and when it is aborted", async (t) => {
  const cluster = await createCluster(t);
  const { clock } = cluster;
  const { peer, publish } = await addSender(t, cluster);
  const { client, next, open } = createClient(t, cluster, peer);
  await publish(100);
  await open();
  const abort = new AbortController();
  const aborted = next(100, { signals: [abort.signal] });
  abort.abort();
  t.equal(await aborted, undefined);
  const late = next(100, { waitMs: 500 });
  clock.pass(500);
  t.equal(await late, undefined);
  t.equal(client.figures.streams, 1, "the stream stays open");
  const answer = await publish(101, "a");
  t.equal(await next(100), answer);
});

t.test("a large answer is not passed on", async (t) => {
  const cluster = await createCluster(t);
  const { events, peer, publish } = await addSender(t, cluster);
  const { next, open } = createClient(t, cluster, peer);
  await publish(100);
  await open();
  const waiting = next(100);
  await publish(101, "x".repeat(MAX_ANSWER_BYTES));
  t.equal(await waiting, undefined);
  t.match(events.figures, { streams: 0, answers: 0 });
});

t.test("answers that are not taken do not fill the memory", async (t) => {
  const cluster = await createCluster(t);
  const { peer, publish } = await addSender(t, cluster);
  const { client, open } = createClient(t, cluster, peer);
  await publish(100);
  await open();
  for (let n = 101; client.figures.streams > 0 && n < 200; n++) {
    await publish(n, "x".repeat(MAX_ANSWER_BYTES / 4));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => client.figures.streams === 0);
  t.match(cluster.lines.join(), /its answers were not taken/);
});

t.test("frames are read in any parts, and only in their order", async (t) => {
  const key = randomBytes(32);
  const contents = ["", "a", "bc".repeat(1_000), ""].map((text) =>
    Buffer.from(text),
  );
  const writer = new FrameWriter(key);
  const frames = contents.map((content) => writer.write(content));
  const bytes = Buffer.concat(frames);
  for (const size of [1, 3, 19, 20, 21, bytes.length]) {
    const reader = new FrameReader(key, 2_000);
    const read: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      read.push(...reader.read(bytes.subarray(at, at + size)));
    t.same(read.map(String), contents.map(String), `parts of ${size} bytes`);
  }
  const wrong = [
    [frames[1]!],
    [frames[0]!, frames[0]!],
    [frames[0]!, frames[2]!],
  ];
  for (const some of wrong)
    t.throws(() => new FrameReader(key, 2_000).read(Buffer.concat(some)));
  t.throws(() => new FrameReader(randomBytes(32), 2_000).read(bytes));
  t.throws(() => new FrameReader(key, 1_999).read(bytes), {
    code: "ANSWER_TOO_LARGE",
  });
});

t.test("which server requests the events of a pool from XAPI", async (t) => {
  const pools = Array.from({ length: 300 }, (_, i) => `pool ${i}`);
  const senders = (servers: readonly string[]) =>
    pools.map((pool) => senderOf(pool, servers));
  const three = senders(["xo1", "xo2", "xo3"]);
  t.same(senders(["xo3", "xo1", "xo2"]), three, "in any order");
  for (const server of ["xo1", "xo2", "xo3"]) {
    const own = three.filter((sender) => sender === server).length;
    t.ok(own > 60 && own < 140, `${server} has ${own} of 300`);
  }
  const two = senders(["xo1", "xo3"]);
  t.ok(
    three.every((sender, i) => sender === "xo2" || sender === two[i]),
    "the pools of the others stay where they are",
  );
});

t.test("a server publishes only answers of which it has all", async (t) => {
  const done: string[] = [];
  const peer = addServer({ servers: [] }, "127.0.0.1:9");
  const current: { sender?: typeof peer } = {};
  const relay = createRelay({
    poolId: "p",
    client: {
      next: async () => void done.push("receive"),
      close: () => done.push("close"),
      onAnswer: () => undefined,
      onApplied: (_pool, token) => done.push(`compare ${token}`),
    },
    server: {
      publish: (_pool, { token }) => done.push(`publish ${token}`),
      end: () => done.push("end"),
      onApplied: (_pool, token) => done.push(`digests ${token}`),
    },
    findSender: () => current.sender,
  });
  const idle = (token: string) => ({
    batches: [],
    token,
    validRefCounts: new Map<string, number>(),
  });
  const request = {} as RelayRequest;
  await relay.next(request);
  relay.onAnswer(idle("1"), FOLLOWED);
  relay.onApplied("1");
  t.same(done.splice(0), ["close", "publish 1", "digests 1"]);
  current.sender = peer;
  relay.onAnswer(idle("2"), FOLLOWED);
  t.same(done.splice(0), ["end"], "the next one would follow a gap");
  relay.onApplied("2");
  t.same(done.splice(0), ["compare 2"]);
  await relay.next(request);
  t.same(done.splice(0), ["end", "receive"]);
  relay.onBreak();
  t.same(done.splice(0), ["close", "end"]);
});
