import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";
import { FramedStream } from "@xo-server/backup";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { connect, createServer, type AddressInfo } from "node:net";
import t from "tap";
import { TUNNEL_PROTOCOL } from "../src/tunnels/tunnel-messages.js";
import { IDLE_MS, MAX_TUNNELS } from "../src/tunnels/tunnel-server.js";
import { addOther, addServer, until } from "./peer-servers.js";
import {
  never,
  MEMBER,
  createCluster,
  startMember,
  addHelper,
  createClient,
  read,
  closed,
} from "./tunnel-servers.js";

t.test("bytes pass between a server and a member", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t);
  const helper = await addHelper(t, cluster, member);
  const { client, route } = createClient(cluster);
  const { socket, via } = await route.connect(MEMBER, never);
  t.equal(via, "xo2");
  t.same(helper.requested, [MEMBER]);
  socket.write("abc");
  t.equal(await read(socket), "abc");
  t.match(client.figures, { open: 1, opened: 1, failed: 0 });
  t.match(helper.tunnels.figures, { open: 1, opened: 1, bytes: 6 });

  // An upload of unknown length ends like this.
  const ended = once(socket, "end");
  socket.end("last");
  t.equal(await read(socket), "last");
  await ended;
  await until(() => helper.tunnels.figures.open === 0);
  await until(() => client.figures.open === 0);
  t.equal(helper.tunnels.figures.bytes, 14);
});

t.test(
  "nothing is lost of what is sent before the tunnel is answered, as NBD servers do",
  async (t) => {
    const cluster = await createCluster(t);
    await addHelper(t, cluster, await startMember(t, "NBDMAGIC"));
    const { route } = createClient(cluster);
    for (let i = 0; i < 20; i++) {
      const { socket } = await route.connect(MEMBER, never);
      t.equal(await read(socket), "NBDMAGIC");
      socket.destroy();
    }
  },
);

t.test(
  "other processes of this machine reach a member through a socket",
  async (t) => {
    const cluster = await createCluster(t);
    const helper = await addHelper(t, cluster, await startMember(t));
    const { client, route } = createClient(cluster);
    const path = await route.listen(MEMBER);
    t.equal((await stat(dirname(path))).mode & 0o777, 0o700);
    t.equal(await route.listen(MEMBER), path, "one socket for each member");
    const other = client.routeOf("q");
    t.not(await other.listen(MEMBER), path, "pools have their own");

    const nbd = await route.listen("nbd://192.0.2.1:10809/OpaqueRef:a");
    t.not(nbd, path);
    t.equal(
      await route.listen("nbd://192.0.2.1:10809/OpaqueRef:b"),
      nbd,
      "one socket for all disks of an NBD server",
    );
    const disk = new FramedStream(connect(nbd));
    disk.write("x");
    await read(disk);
    disk.destroy();
    t.same(
      helper.requested.splice(0),
      ["nbd://192.0.2.1:10809/OpaqueRef:b"],
      "for the last disk",
    );

    for (const text of ["abc", "def"]) {
      const socket = new FramedStream(connect({ path, allowHalfOpen: true }));
      socket.write(text);
      t.equal(await read(socket), text);
      const ended = once(socket, "end");
      socket.end();
      await ended;
    }
    t.same(helper.requested, [MEMBER, MEMBER]);
    await until(() => helper.tunnels.figures.open === 0);

    const refused = connect(await other.listen(MEMBER));
    await once(refused, "close");
    const open = new FramedStream(connect(path));
    open.write("x");
    await read(open);
    const ended = closed(open);
    await client.stop();
    t.match(await ended, { message: /closed before its end/ });
    await t.rejects(stat(dirname(path)), { code: "ENOENT" });
  },
);

t.test("a member that does not read is not written to", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t);
  const helper = await addHelper(t, cluster, member);
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  await until(() => member.sockets.length > 0);
  member.sockets[0]!.unpipe().pause();
  const chunk = Buffer.alloc(1024 ** 2);
  // Until the buffers of the kernel and of both servers are full.
  let written = 0;
  while (socket.writableLength < 4 * chunk.length) {
    socket.write(chunk);
    written += chunk.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.ok(helper.tunnels.figures.bytes < written);
  member.sockets[0]!.resume().once("end", () => member.sockets[0]!.end());
  socket.destroy();
  await until(() => helper.tunnels.figures.open === 0);
});

t.test("a tunnel through a server with TLS", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t);
  const { key, cert, fingerprint } = makeLoopbackCertificate();
  const tls = { settings: { key, cert }, fingerprint, attach: () => undefined };
  await addHelper(t, cluster, member, { tls: tls as never });
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  socket.write("abc");
  t.equal(await read(socket), "abc");
  socket.destroy();
  cluster.servers[0] = { ...cluster.servers[0]!, fingerprint: "AB:CD" };
  await t.rejects(route.connect(MEMBER, never), { message: /fingerprint/ });
});

t.test("only servers of the database get tunnels, once", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { seal, send } = helper;
  const sealed = seal();
  t.equal(await send(sealed), 101);
  t.equal(await send(sealed), 403, "used before");
  t.equal(await send("v1.forged"), 403);
  t.equal(await send(seal({ to: "1 xo9" })), 403, "for another process");
  const expired = seal();
  cluster.clock.pass(11_000);
  t.equal(await send(expired), 403);
  const foreign = await createCluster(t, randomBytes(32).toString("base64"));
  const other = foreign.messages.sealRequest({
    poolId: "p",
    member: MEMBER,
    from: "xo1",
    to: helper.peer.instance,
  });
  t.equal(await send(other.sealed), 403, "of another database");
  t.equal(helper.requested.length, 1, "nothing was connected for them");
  t.equal(helper.tunnels.figures.refused, 5);
});

t.test("pools and members that a server does not reach", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, { port: undefined });
  t.not(await helper.send(helper.seal({ poolId: "unknown" })), 101);
  t.not(await helper.send(helper.seal()), 101);
  t.match(helper.tunnels.figures, { open: 0, failed: 2 });
});

t.test("the next server is asked if one refuses or hangs", async (t) => {
  const cluster = await createCluster(t);
  await addHelper(t, cluster, { port: undefined });
  await addOther(t, cluster, () => undefined);
  await addHelper(t, cluster, await startMember(t));
  const { client, clock, route } = createClient(cluster);
  const opening = route.connect(MEMBER, never);
  let isOpen = false;
  opening.then(
    () => (isOpen = true),
    () => undefined,
  );
  await until(() => {
    clock.pass(10);
    return isOpen;
  });
  t.equal((await opening).via, "xo4");
  const again = await route.connect(MEMBER, never);
  t.equal(again.via, "xo4", "it is asked first next time");
  t.match(client.figures, { opened: 2, failed: 0 });
  again.socket.destroy();
  (await opening).socket.destroy();
});

t.test("without a server that helps, the reasons are reported", async (t) => {
  const cluster = await createCluster(t);
  await addHelper(t, cluster, { port: undefined });
  const { client, route } = createClient(cluster);
  await t.rejects(route.connect(MEMBER, never), { message: /xo2: .*member/ });
  t.match(client.figures, { open: 0, failed: 1 });
  cluster.servers.length = 0;
  t.equal(route.isAvailable, false);
});

t.test("an answer that is not authentic is not used", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t);
  const impostor = createServer((socket) => {
    socket.once("data", () => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${TUNNEL_PROTOCOL}\r\nxo-pool-tunnel: v1.x\r\n\r\n`,
      );
      const to = connect(member.port, "127.0.0.1");
      for (const one of [socket, to]) one.on("error", () => undefined);
      socket.pipe(to).pipe(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(impostor, "listening");
  t.teardown(() => impostor.close());
  const { port } = impostor.address() as AddressInfo;
  addServer(cluster, `127.0.0.1:${port}`);
  const { route } = createClient(cluster);
  await t.rejects(route.connect(MEMBER, never), { message: /not authentic/ });
});

t.test("idle tunnels are closed, others are not", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { route } = createClient(cluster);
  const idle = await route.connect(MEMBER, never);
  const used = await route.connect(MEMBER, never);
  idle.socket.resume();
  await until(() => helper.tunnels.figures.open === 2);
  const ended = closed(idle.socket);
  for (let i = 0; i < 2; i++) {
    used.socket.write("x");
    await read(used.socket);
    cluster.clock.pass(IDLE_MS);
  }
  await ended;
  t.equal(helper.tunnels.figures.open, 1);
  used.socket.destroy();
});

t.test("a server that stops ends its tunnels", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  socket.resume();
  const ended = closed(socket);
  await helper.web.stop();
  t.match(await ended, { message: /closed before its end/ });
  t.equal(helper.tunnels.figures.open, 0);
});

t.test("the number of tunnels is limited", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { route } = createClient(cluster);
  const all: Duplex[] = [];
  for (let i = 0; i < MAX_TUNNELS; i++)
    all.push((await route.connect(MEMBER, never)).socket);
  await t.rejects(route.connect(MEMBER, never), { message: /tunnels/ });
  t.equal(helper.tunnels.figures.open, MAX_TUNNELS);
  for (const socket of all) socket.destroy();
  await until(() => helper.tunnels.figures.open === 0);
});
