import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { dirname } from "node:path";
import { XoError } from "@xo-server/model";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import t, { type Test } from "tap";
import type { Peer } from "../src/cluster/membership.js";
import { TunnelClient } from "../src/tunnels/tunnel-client.js";
import {
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
  TunnelMessages,
} from "../src/tunnels/tunnel-messages.js";
import {
  IDLE_MS,
  MAX_TUNNELS,
  TunnelServer,
} from "../src/tunnels/tunnel-server.js";
import { FakeClock } from "./fake-clock.js";
import {
  addOther,
  addServer,
  createPeers,
  startPeerServer,
  until,
} from "./peer-servers.js";

const never = new AbortController().signal;
const MEMBER = "https://192.0.2.1";

async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key, level: "debug" });
  return { ...peers, messages: new TunnelMessages(peers.store, peers.clock) };
}

type Cluster = Awaited<ReturnType<typeof createCluster>>;

/** A member of a pool that returns what it receives. @param greeting is sent first */
async function startMember(t: Test, greeting = "") {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.write(greeting);
    socket.pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A server that reaches the pool "p". */
async function addHelper(
  t: Test,
  cluster: Cluster,
  { port }: { readonly port: number | undefined },
  more: Pick<Parameters<typeof startPeerServer>[2], "tls"> = {},
) {
  const { clock, logger, messages, servers } = cluster;
  const name = `xo${servers.length + 2}`;
  const requested: string[] = [];
  const openMember = async (member: string) => {
    requested.push(member);
    if (port === undefined)
      throw new XoError("UNSUPPORTED", { what: "it", reason: "no member" });
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return socket;
  };
  const tunnels = new TunnelServer({
    messages,
    self: { owner: name, instance: `1 ${name}` },
    xapiOf(id) {
      if (id === "p") return { openMember, label: "root@pool" };
      throw new XoError("NOT_CONNECTED", { pool: id });
    },
    clock,
    wallClock: clock,
    logger,
  });
  const web = await startPeerServer(t, cluster, { tunnels, ...more });
  const peer = addServer(cluster, `127.0.0.1:${web.port}`, {
    fingerprint: more.tls?.fingerprint,
  });
  const seal = (change: object = {}) =>
    messages.sealRequest({
      poolId: "p",
      member: MEMBER,
      from: "xo1",
      to: peer.instance,
      ...change,
    }).sealed;
  /** @returns status of the response to a request for a tunnel */
  const send = async (sealed: string): Promise<number> => {
    const sent = request(`http://127.0.0.1:${web.port}${TUNNEL_PATH}`, {
      headers: {
        connection: "upgrade",
        upgrade: TUNNEL_PROTOCOL,
        authorization: `Bearer ${sealed}`,
      },
    });
    sent.end();
    return new Promise((resolve, reject) => {
      sent.on("error", reject);
      sent.on("response", (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve(response.statusCode!);
      });
    });
  };
  return { tunnels, web, peer, seal, send, requested };
}

/** The server xo1, which does not reach the pool. */
function createClient({ messages, logger, servers }: Cluster) {
  // Its clock is that of its own timers.
  const clock = new FakeClock();
  const client = new TunnelClient({
    messages,
    self: { owner: "xo1", instance: "1 xo1" },
    peers: () => servers as Peer[],
    clock,
    logger,
  });
  t.teardown(() => client.stop());
  return { client, clock, route: client.routeOf("p") };
}

async function read(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString();
}

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
    const disk = connect(nbd);
    disk.write("x");
    await read(disk);
    disk.destroy();
    t.same(
      helper.requested.splice(0),
      ["nbd://192.0.2.1:10809/OpaqueRef:b"],
      "for the last disk",
    );

    for (const text of ["abc", "def"]) {
      const socket = connect({ path, allowHalfOpen: true });
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
    const open = connect(path);
    open.write("x");
    await read(open);
    const closed = once(open, "close");
    await client.stop();
    await closed;
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
  const closed = once(idle.socket, "close");
  for (let i = 0; i < 2; i++) {
    used.socket.write("x");
    await read(used.socket);
    cluster.clock.pass(IDLE_MS);
  }
  await closed;
  t.equal(helper.tunnels.figures.open, 1);
  used.socket.destroy();
});

t.test("a server that stops ends its tunnels", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  socket.resume();
  const closed = once(socket, "close");
  await helper.web.stop();
  await closed;
  t.equal(helper.tunnels.figures.open, 0);
});

t.test("the number of tunnels is limited", async (t) => {
  const cluster = await createCluster(t);
  const helper = await addHelper(t, cluster, await startMember(t));
  const { route } = createClient(cluster);
  const all: Socket[] = [];
  for (let i = 0; i < MAX_TUNNELS; i++)
    all.push((await route.connect(MEMBER, never)).socket);
  await t.rejects(route.connect(MEMBER, never), { message: /tunnels/ });
  t.equal(helper.tunnels.figures.open, MAX_TUNNELS);
  for (const socket of all) socket.destroy();
  await until(() => helper.tunnels.figures.open === 0);
});
