import type { RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { XoError } from "@xo-server/model";
import type { ClusterServer } from "@xo-server/store";
import t from "tap";
import { toKeyPair } from "../src/api/tls/key-pair.js";
import { Tls } from "../src/api/tls/start-tls.js";
import { CopyClient } from "../src/pool-copies/copy-client.js";
import { COPY_HEADER } from "../src/pool-copies/copy-messages.js";
import { IDLE_MS } from "../src/pool-copies/copy-transfer.js";
import type { FakeClock } from "./fake-clock.js";
import { addOther, addServer, until } from "./peer-servers.js";
import {
  createCluster,
  addSender,
  type Cluster,
  copyOf,
  CONTENT,
} from "./copy-servers.js";

type Server = ClusterServer;

interface FetchOptions {
  readonly signal?: AbortSignal;
  readonly onChunk?: () => void;
}

/** The server xo1, which has no snapshots. */
function createClient(
  { clock, logger, messages, servers }: Cluster,
  list: () => Promise<Server[]> = async () => servers,
) {
  const client = new CopyClient({
    store: { clusterServers: { list } },
    messages,
    self: { owner: "xo1", instance: "1 xo1" },
    silentMs: 4_000,
    clock,
    logger,
  });
  /** Of each copy, whether it is complete. */
  const received: boolean[] = [];
  const errors: unknown[] = [];
  /** @param onChunk called with each part of a copy */
  const fetchPool = (
    poolId = "p",
    { signal = new AbortController().signal, onChunk }: FetchOptions = {},
  ) =>
    client.fetch(
      { poolId, label: poolId.toUpperCase() },
      async (copy) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of copy.body) {
            chunks.push(chunk as Buffer);
            onChunk?.();
          }
        } catch (error) {
          errors.push(error);
          throw error;
        }
        received.push(Buffer.concat(chunks).equals(CONTENT));
      },
      signal,
    );
  return { client, received, errors, fetch: fetchPool };
}

t.test("a server gets the copy of a pool from another one", async (t) => {
  const cluster = await createCluster(t);
  const { copies } = await addSender(t, cluster);
  const { client, received, fetch } = createClient(cluster);
  await fetch();
  t.same(received, [true]);
  t.same(client.figures, { fetched: 1, failed: 0 });
  t.same(copies.figures, { sent: 1, failed: 0, refused: 0 });
  t.match(cluster.lines, [
    /P: 3 objects copied from server xo2 \(300000 bytes\) in \d+ ms/,
  ]);
  t.notMatch(cluster.lines.join(), /BwcHBwc/, "no key in the log");
});

t.test(
  "if a server has no copy, it is requested from the next one",
  async (t) => {
    const cluster = await createCluster(t);
    const openSnapshotCopy = async () => undefined;
    const first = await addSender(t, cluster, { openSnapshotCopy });
    const { received, fetch, client } = createClient(cluster);
    await fetch();
    t.match(cluster.lines, [
      /P: listing the pool, no copy from another server \(xo2: a copy of the pool is not available: it has no complete snapshot\)/,
    ]);
    await addOther(t, cluster, (_request, response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end('{"code":"NO_SUCH_OBJECT","message":"no such page"}');
    });
    await addOther(t, cluster, (_request, response) => {
      response.end("<html>The page of an earlier version</html>");
    });
    await addSender(t, cluster);
    cluster.clock.pass(1_000);
    for (let i = 0; i < 4; i++) await fetch();
    t.equal(received.length, 4, "whichever is asked first");
    t.same(client.figures, { fetched: 4, failed: 0 });
    t.equal(first.copies.figures.sent, 0);
    const answer = await first.send(first.seal({ layout: "other" }).sealed);
    t.equal(answer.status, 501);
    t.match(await answer.json(), { message: /another format/ });
  },
);

t.test("which servers get requests for copies", async (t) => {
  const cluster = await createCluster(t);
  const asked: string[] = [];
  const add = async (more: Partial<Server> = {}) => {
    const server = await addOther(t, cluster, (_request, response) => {
      asked.push(server.name);
      response.writeHead(404).end();
    });
    Object.assign(server, more);
  };
  await add({ leavingAt: 1 });
  await add();
  await add();
  await add({ silentMs: 4_000 });
  await add({ address: undefined });
  await add({ name: "xo1", address: "127.0.0.1:9" });
  addServer(cluster, "127.0.0.1:9");
  const { fetch } = createClient(cluster);
  await fetch();
  t.same(asked, ["xo3", "xo4", "xo2"], "those that leave last");
  asked.length = 0;
  await fetch();
  await fetch();
  t.same(new Set([asked[0], asked[3]]), new Set(["xo3", "xo4"]), "in turn");
  t.match(cluster.lines, [
    /P: listing the pool, no copy from another server \(xo3: HTTP 404; xo4: HTTP 404; xo2: HTTP 404\)/,
    /HTTP 404/,
    /HTTP 404/,
  ]);
});

t.test("the servers are not known: the pool is listed", async (t) => {
  const cluster = await createCluster(t);
  const { fetch } = createClient(cluster, async () => {
    throw new XoError("STORE_UNAVAILABLE", { reason: "it is stopped" });
  });
  await fetch();
  t.same(cluster.lines, []);
});

t.test(
  "a server that fails gets no requests for a minute, the next one does",
  async (t) => {
    for (const [what, listener, reason] of [
      [
        "no answer",
        undefined,
        /no response from 127\.0\.0\.1:\d+ within 3000 ms/,
      ],
      [
        "closed",
        ((request) => request.socket.destroy()) as RequestListener,
        /hang up/,
      ],
      [
        "forged",
        ((_request, response) => {
          response.setHeader(COPY_HEADER, "v1.00000000.AAAA").end("x");
        }) as RequestListener,
        /its answer is not authentic/,
      ],
    ] as const) {
      const cluster = await createCluster(t);
      let asked = 0;
      await addOther(t, cluster, (request, response) => {
        asked++;
        if (listener === undefined) cluster.clock.pass(3_000);
        else listener(request, response);
      });
      await addSender(t, cluster);
      const { received, fetch, client } = createClient(cluster);
      for (let i = 0; i < 4; i++) await fetch();
      t.equal(received.length, 4, what);
      t.equal(asked, 1);
      t.same(client.figures, { fetched: 4, failed: 1 });
      t.match(cluster.lines[0], reason);
      t.match(
        cluster.lines[0],
        /xo2: .*; no further requests to this server for 60 s/,
      );
      cluster.clock.pass(60_000);
      for (let i = 0; i < 2; i++) await fetch();
      t.equal(asked, 2);
    }
  },
);

t.test("the answer to another request is not used", async (t) => {
  const cluster = await createCluster(t);
  const { messages } = cluster;
  const copy = copyOf(Readable.from([]));
  const answer = messages.sealAnswer(copy, "another id");
  await addOther(t, cluster, (_request, response) => {
    response.setHeader(COPY_HEADER, answer).end(CONTENT);
  });
  const { received, fetch } = createClient(cluster);
  await fetch();
  t.same(received, []);
  t.match(cluster.lines[0], /its answer is not authentic/);
});

for (const [what, bytes, respond, onChunk, reason] of [
  [
    "makes no progress",
    CONTENT.length,
    (response) => response.write(CONTENT.subarray(0, 1_000)),
    (clock) => {
      clock.pass(IDLE_MS);
    },
    /no bytes for 2 s/,
  ],
  [
    "is too slow",
    CONTENT.length,
    (response) => response.write("x"),
    (clock, response) => {
      clock.pass(IDLE_MS / 2);
      response.write("x");
    },
    /it takes more than 5 s/,
  ],
  [
    "is too long",
    CONTENT.length - 1,
    (response) => response.end(CONTENT),
    () => undefined,
    /it is longer than announced/,
  ],
  [
    "is too short",
    CONTENT.length + 1,
    (response) => response.end(CONTENT),
    () => undefined,
    /the file ends 1 bytes too early/,
  ],
  [
    "ends early",
    CONTENT.length,
    (response) => response.write(CONTENT.subarray(1)),
    (_clock, response) => response.destroy(),
    /aborted/,
  ],
] as readonly [
  string,
  number,
  (response: ServerResponse) => void,
  (clock: FakeClock, response: ServerResponse) => void,
  RegExp,
][])
  t.test(`a copy that ${what} is not used`, async (t) => {
    const cluster = await createCluster(t);
    const { messages, clock } = cluster;
    const responses: ServerResponse[] = [];
    await addOther(t, cluster, (request, response) => {
      responses.push(response);
      void (async () => {
        const { authorization = "" } = request.headers;
        const opened = await messages.openRequest(authorization.slice(7));
        const copy = copyOf(Readable.from([]), bytes);
        const answer = messages.sealAnswer(copy, opened!.answerId);
        response.setHeader(COPY_HEADER, answer);
        respond(response);
      })();
    });
    const { waiting } = clock;
    const { received, fetch, client } = createClient(cluster);
    await fetch("p", {
      onChunk: () => {
        onChunk(clock, responses[0]!);
      },
    });
    t.same(received, []);
    t.match(cluster.lines[0], reason);
    t.same(client.figures, { fetched: 0, failed: 1 });
    t.equal(clock.waiting, waiting, "no timers are left");
  });

t.test("a copy that cannot be read to its end", async (t) => {
  const cluster = await createCluster(t);
  const { copies } = await addSender(t, cluster, {
    openSnapshotCopy: async () => copyOf(Readable.from(failing())),
  });
  async function* failing() {
    yield CONTENT.subarray(1);
    throw new Error("the disk fails");
  }
  const { received, fetch } = createClient(cluster);
  await fetch();
  t.same(received, []);
  t.match(cluster.lines[0], /no copy from xo2: aborted/);
  t.same(copies.figures, { sent: 0, failed: 1, refused: 0 });
});

t.test("a pool that is removed meanwhile ends the request", async (t) => {
  const cluster = await createCluster(t);
  const { copies } = await addSender(t, cluster, {
    openSnapshotCopy: async () => {
      const body = new Readable({ read: () => undefined });
      body.push(CONTENT.subarray(0, 10));
      return copyOf(body);
    },
  });
  const { errors, fetch, client } = createClient(cluster);
  const removed = new AbortController();
  const onChunk = () => {
    removed.abort(new Error("removed"));
  };
  await fetch("p", { signal: removed.signal, onChunk });
  t.equal(errors.length, 1);
  t.same(
    client.figures,
    { fetched: 0, failed: 0 },
    "the server is not at fault",
  );
  t.same(cluster.lines, []);
  await until(() => copies.figures.failed === 1);
});

t.test(
  "a server with TLS must have the certificate that it names",
  async (t) => {
    const cluster = await createCluster(t);
    const { cert, key, fingerprint } = makeLoopbackCertificate();
    const pair = toKeyPair(cert, key, "test");
    const tls = new Tls(pair, "TLSv1.2", cluster.logger);
    t.equal(tls.fingerprint, fingerprint);
    const { server, copies } = await addSender(t, cluster, { tls });
    cluster.lines.length = 0;
    const { received, fetch } = createClient(cluster);
    Object.assign(server, { fingerprint });
    await fetch();
    t.same(received, [true]);

    Object.assign(server, {
      fingerprint: makeLoopbackCertificate().fingerprint,
    });
    await fetch();
    t.equal(received.length, 1);
    t.equal(copies.figures.sent, 1);
    t.match(
      cluster.lines[1],
      /the certificate of 127\.0\.0\.1:\d+ has the SHA-256/,
    );
  },
);
