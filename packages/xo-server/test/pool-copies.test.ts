import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  request,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { Readable } from "node:stream";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { snapshotLayout, type SnapshotCopy } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { ClusterServer } from "@xo-server/store";
import t, { type Test } from "tap";
import { toKeyPair } from "../src/api/tls/key-pair.js";
import { Tls } from "../src/api/tls/start-tls.js";
import { CopyClient } from "../src/pool-copies/copy-client.js";
import {
  COPY_HEADER,
  COPY_PATH,
  CopyMessages,
} from "../src/pool-copies/copy-messages.js";
import { CopyServer } from "../src/pool-copies/copy-server.js";
import { IDLE_MS } from "../src/pool-copies/copy-transfer.js";
import type { FakeClock } from "./fake-clock.js";
import {
  addOther,
  addServer,
  createPeers,
  startPeerServer,
  until,
} from "./peer-servers.js";
import { startTestServer } from "./test-server.js";

const CONTENT = randomBytes(300_000);

/** What is sent as the snapshot of the pool `p`. */
function copyOf(body: Readable, bytes = CONTENT.length): SnapshotCopy {
  const key = Buffer.alloc(32, 7);
  return { objects: 3, digest: "0123456789abcdef", bytes, key, body };
}

/** The servers of one database, and the messages between them. */
async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key });
  return { ...peers, messages: new CopyMessages(peers.store, peers.clock) };
}

type Cluster = Awaited<ReturnType<typeof createCluster>>;
type Server = ClusterServer;

interface SenderOptions {
  readonly openSnapshotCopy?: (
    poolId: string,
  ) => Promise<SnapshotCopy | undefined>;
  readonly tls?: Tls;
  /** Key of another database. */
  readonly messages?: CopyMessages;
}

/** A server that has the pool `p`. */
async function addSender(
  t: Test,
  cluster: Cluster,
  options: SenderOptions = {},
) {
  const { clock, logger, messages, servers } = cluster;
  const name = `xo${servers.length + 2}`;
  const copies = new CopyServer({
    openSnapshotCopy: async (poolId) =>
      poolId === "p" ? copyOf(Readable.from([CONTENT])) : undefined,
    messages,
    self: { owner: name, instance: `1 ${name}` },
    clock,
    wallClock: clock,
    logger,
    ...options,
  });
  const { tls } = options;
  const web = await startPeerServer(t, cluster, { copies, tls });
  const server = addServer(cluster, `127.0.0.1:${web.port}`);
  const to = server.instance;
  /** Sends a sealed request. */
  const send = (sealed: string) =>
    fetch(`http://127.0.0.1:${web.port}${COPY_PATH}`, {
      headers: { authorization: `Bearer ${sealed}` },
    });
  const seal = (change: object = {}) =>
    cluster.messages.sealRequest({
      poolId: "p",
      layout: snapshotLayout,
      from: "xo1",
      to,
      ...change,
    });
  return { copies, web, server, send, seal };
}

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

t.test("requests that are not from a server of the database", async (t) => {
  const cluster = await createCluster(t);
  const { copies, send, seal, server } = await addSender(t, cluster);
  const foreign = await createCluster(t, randomBytes(32).toString("base64"));
  const refused = async (sealed: string, reason: RegExp) => {
    cluster.lines.length = 0;
    const answer = await send(sealed);
    t.equal(answer.status, 403);
    t.equal(answer.headers.get(COPY_HEADER), null);
    t.match(cluster.lines, [reason]);
    cluster.clock.pass(1_000);
  };
  const invalid =
    /refused a request for a copy of a pool from 127\.0\.0\.1: it is not sealed with the key of this database, has expired, or was used before/;
  await refused("", invalid);
  await refused("v1.00000000.AAAA", invalid);
  const { sealed } = seal();
  const forged = Buffer.from(sealed);
  forged[forged.length - 5]! ^= 1;
  await refused(forged.toString(), invalid);
  const other = foreign.messages.sealRequest({
    to: server.instance,
    poolId: "p",
    layout: snapshotLayout,
    from: "xo1",
  });
  await refused(other.sealed, invalid);
  const answer = await send(seal().sealed);
  t.equal(answer.status, 200);
  t.equal((await answer.arrayBuffer()).byteLength, CONTENT.length);

  const used = seal().sealed;
  await (await send(used)).arrayBuffer();
  await refused(used, invalid);
  const late = seal().sealed;
  cluster.clock.pass(10_000);
  await refused(late, invalid);
  await refused(
    seal({ to: "1 xo3" }).sealed,
    /it is from server xo1 for another process than this one/,
  );
  t.same(copies.figures, { sent: 2, failed: 0, refused: 7 });
});

t.test("refused requests of an address are limited", async (t) => {
  const cluster = await createCluster(t);
  const { copies, send, seal } = await addSender(t, cluster);
  for (let i = 0; i < 5; i++) t.equal((await send("x")).status, 403);
  t.equal((await send("x")).status, 429);
  t.equal((await send(seal().sealed)).status, 429);
  t.equal(copies.figures.refused, 5, "not more lines in the log");
  cluster.clock.pass(1_000);
  t.equal((await send(seal().sealed)).status, 200);
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
    ...[/HTTP 404/, /HTTP 404/],
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

t.test("at most eight copies are sent at a time", async (t) => {
  const cluster = await createCluster(t);
  const bodies: Readable[] = [];
  const { copies, send, seal } = await addSender(t, cluster, {
    async openSnapshotCopy() {
      const body = new Readable({ read: () => undefined });
      bodies.push(body);
      return copyOf(body);
    },
  });
  const answers = Array.from({ length: 8 }, () => send(seal().sealed));
  await until(() => bodies.length === 8);
  const refused = await send(seal().sealed);
  t.equal(refused.status, 503);
  // They are not read by the disk any more.
  cluster.clock.pass(IDLE_MS);
  await Promise.allSettled(answers);
  await until(() => copies.figures.failed === 8);
  t.ok(bodies.every(({ destroyed }) => destroyed));
  const again = send(seal().sealed);
  await until(() => bodies.length === 9);
  bodies[8]!.push(CONTENT);
  bodies[8]!.push(null);
  t.equal((await (await again).arrayBuffer()).byteLength, CONTENT.length);
});

t.test("a server that does not receive its copy has no place", async (t) => {
  const cluster = await createCluster(t);
  const { copies, seal, web } = await addSender(t, cluster, {
    openSnapshotCopy: async () =>
      copyOf(
        new Readable({
          read() {
            this.push(Buffer.alloc(1 << 20));
          },
        }),
        2 ** 32,
      ),
  });
  const silent = request({
    port: web.port,
    path: COPY_PATH,
    headers: { authorization: `Bearer ${seal().sealed}` },
  }).end();
  const [response] = (await once(silent, "response")) as [IncomingMessage];
  t.equal(response.statusCode, 200);
  response.on("error", () => undefined);
  // The buffers of the connection are full; nothing is read.
  while (copies.figures.failed === 0) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    cluster.clock.pass(IDLE_MS);
  }
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

t.test("a server with SQLite has no such route and no metrics", async (t) => {
  const { get } = await startTestServer(t);
  t.equal((await get(COPY_PATH)).status, 404);
  t.notMatch(await (await get("/metrics")).text(), /xo_pool_copies/);
});
