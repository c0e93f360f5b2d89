import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import t from "tap";
import { FrameReader, FrameWriter } from "../src/event-relay/event-frames.js";
import { RETRY_MS } from "../src/event-relay/relay-client.js";
import { EVENTS_HEADER } from "../src/event-relay/relay-messages.js";
import { MAX_ANSWER_BYTES } from "../src/event-relay/relay-server.js";
import { addOther, until } from "./peer-servers.js";
import {
  createCluster,
  addSender,
  tokenOf,
  FOLLOWED,
  createClient,
} from "./relay-servers.js";

t.test("a server of a version without digests gets none", async (t) => {
  const cluster = await createCluster(t);
  const { events, publish, send } = await addSender(t, cluster);
  await publish(100);
  const { sealed, answerId } = cluster.messages.sealRequest({
    ...FOLLOWED,
    poolId: "p",
    from: "xo1",
    to: "1 xo2",
  });
  const response = await send(sealed);
  const header = response.headers.get(EVENTS_HEADER)!;
  const { key } = cluster.messages.openAnswer(header, answerId)!;
  events.onApplied("p", tokenOf(100));
  await publish(101);
  const reader = new FrameReader(Buffer.from(key, "base64"), MAX_ANSWER_BYTES);
  const frames: Buffer[] = [];
  for await (const chunk of response.body!) {
    frames.push(...reader.read(Buffer.from(chunk as Uint8Array)));
    if (frames.length === 2) break;
  }
  t.match(frames.map(String), ["", tokenOf(101)]);
});

t.test("requests for events that are not sent", async (t) => {
  const cluster = await createCluster(t);
  const { publish, send, seal } = await addSender(t, cluster);
  const reasonOf = async (change?: object) => {
    const answer = await send(seal(change));
    t.equal(answer.status, 501);
    return ((await answer.json()) as { message: string }).message;
  };
  t.match(await reasonOf(), /it does not request them/);
  await publish(100);
  t.match(await reasonOf({ poolId: "q" }), /it does not request them/);
  const other = /it follows another XAPI or other classes/;
  t.match(await reasonOf({ issuer: "OpaqueRef:1 2." }), other);
  t.match(await reasonOf({ classes: ["VM"] }), other);
});

t.test("requests that are not from a server of the database", async (t) => {
  const cluster = await createCluster(t);
  const { events, send, seal, publish, peer } = await addSender(t, cluster);
  const foreign = await createCluster(t, randomBytes(32).toString("base64"));
  await publish(100);
  const used = seal();
  const first = await send(used);
  t.equal(first.status, 200);
  await first.body!.cancel();
  const other = foreign.messages.sealRequest({
    ...FOLLOWED,
    poolId: "p",
    from: "xo1",
    to: peer.instance,
  });
  for (const sealed of ["", "x", used, other.sealed, seal({ to: "1 xo3" })]) {
    const answer = await send(sealed);
    t.equal(answer.status, 403);
    t.equal(answer.headers.get(EVENTS_HEADER), null);
    cluster.clock.pass(1_000);
  }
  t.equal(events.figures.refused, 5);
  t.match(
    cluster.lines.join(),
    /refused a request for the events of a pool from 127\.0\.0\.1: it is not sealed/,
  );
});

for (const [what, respond, reason] of [
  [
    "whose bytes were changed",
    (response, key) => {
      const frame = new FrameWriter(key).write(Buffer.from("1,1\n{}"));
      frame[5]! ^= 1;
      response.write(frame);
    },
    /unable to authenticate data/,
  ],
  [
    "that announces a frame that is too long",
    (response) => response.write(Buffer.from([255, 0, 0, 0])),
    /the limit is 1048576/,
  ],
  [
    "that sends no answer of event.from",
    (response, key) =>
      response.write(
        new FrameWriter(key).write(
          Buffer.from(`${tokenOf(101)}\n{"result":1}`),
        ),
      ),
    /requested from XAPI/,
  ],
  ["that ends early", (response) => response.destroy(), /aborted/],
] as readonly [
  string,
  (response: ServerResponse, key: Buffer) => void,
  RegExp,
][])
  t.test(`a stream ${what} is not used`, async (t) => {
    const cluster = await createCluster(t);
    const { messages } = cluster;
    const key = randomBytes(32);
    let response: ServerResponse | undefined;
    const peer = await addOther(t, cluster, (request, given) => {
      void (async () => {
        const { authorization = "" } = request.headers;
        const opened = await messages.openRequest(authorization.slice(7));
        const text = key.toString("base64");
        given
          .setHeader(
            EVENTS_HEADER,
            messages.sealAnswer(
              { key: text, token: tokenOf(100) },
              opened!.answerId,
            ),
          )
          .flushHeaders();
        response = given;
      })();
    });
    const { client, next, open } = createClient(t, cluster, peer);
    await open();
    const waiting = next(100);
    respond(response!, key);
    t.equal(await waiting, undefined);
    t.match(client.figures, { streams: 0, answers: 0, failed: 1 });
    t.match(cluster.lines.at(-1), reason);
  });

t.test(
  "a server that does not support the request gets no further one at once",
  async (t) => {
    const cluster = await createCluster(t);
    let asked = 0;
    const peer = await addOther(t, cluster, (_request, response) => {
      asked++;
      response.writeHead(404).end();
    });
    const { client, next } = createClient(t, cluster, peer);
    const untilRefused = (times: number) =>
      until(() => cluster.lines.join().split("HTTP 404").length > times);
    await next(100);
    await untilRefused(1);
    await next(100);
    await next(100);
    t.equal(asked, 1);
    cluster.clock.pass(RETRY_MS);
    await next(100);
    await untilRefused(2);
    cluster.clock.pass(2 * RETRY_MS - 1);
    await next(100);
    t.equal(asked, 2, "twice the time");
    cluster.clock.pass(1);
    await next(100);
    await untilRefused(3);
    t.equal(asked, 3);
    t.match(client.figures, { streams: 0, failed: 0 });
  },
);

t.test("a server that does not read loses its stream", async (t) => {
  const cluster = await createCluster(t);
  const { events, publish, send, seal } = await addSender(t, cluster);
  await publish(100);
  const response = await send(seal());
  t.equal(response.status, 200);
  t.equal(events.figures.streams, 1);
  for (let n = 101; events.figures.streams > 0 && n < 200; n++)
    await publish(n, "x".repeat(MAX_ANSWER_BYTES / 4));
  t.equal(events.figures.streams, 0);
  await t.rejects(response.arrayBuffer());
});

t.test(
  "a newer stream of the same server replaces the older one",
  async (t) => {
    const cluster = await createCluster(t);
    const { events, publish, send, seal } = await addSender(t, cluster);
    await publish(100);
    const first = await send(seal());
    const second = await send(seal());
    await first.arrayBuffer();
    t.equal(events.figures.streams, 1);
    await second.body!.cancel();
    await until(() => events.figures.streams === 0);
  },
);
