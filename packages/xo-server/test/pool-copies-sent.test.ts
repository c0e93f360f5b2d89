import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { snapshotLayout } from "@xo-server/inventory";
import t from "tap";
import { COPY_HEADER, COPY_PATH } from "../src/pool-copies/copy-messages.js";
import { IDLE_MS } from "../src/pool-copies/copy-transfer.js";
import { until } from "./peer-servers.js";
import { startTestServer } from "./test-server.js";
import { createCluster, addSender, copyOf, CONTENT } from "./copy-servers.js";

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

t.test("a server with SQLite has no such route and no metrics", async (t) => {
  const { get } = await startTestServer(t);
  t.equal((await get(COPY_PATH)).status, 404);
  t.notMatch(await (await get("/metrics")).text(), /xo_pool_copies/);
});
