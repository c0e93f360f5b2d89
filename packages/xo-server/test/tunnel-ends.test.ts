import { once } from "node:events";
import { request } from "node:http";
import { Duplex } from "node:stream";
import { FramedStream } from "@xo-server/backup";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import t, { type Test } from "tap";
import { Tunnel } from "../src/tunnels/tunnel.js";
import {
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
} from "../src/tunnels/tunnel-messages.js";
import { addServer } from "./peer-servers.js";
import {
  never,
  MEMBER,
  createCluster,
  startMember,
  addHelper,
  createClient,
  read,
  closed,
  type Cluster,
} from "./tunnel-servers.js";

/** Ends one direction. @returns why the connection has failed; undefined: it has ended */
async function echoed(t: Test, socket: Duplex, text: string) {
  const ended = closed(socket);
  socket.end(text);
  t.equal(await read(socket), text);
  return ended;
}

/** Another server of this database, which answers as version 0.3.0. Its connections are those of its web server and to the member. */
async function addOlderHelper(
  t: Test,
  cluster: Cluster,
  { port }: { readonly port: number },
) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head: Buffer) => {
      void answer(socket, /Bearer (\S+)/.exec(head.toString())![1]!);
    });
  }).listen(0, "127.0.0.1");
  const answer = async (socket: Socket, sealed: string) => {
    const request = (await cluster.messages.openRequest(sealed))!;
    const { member, answerId } = request;
    const sealedAnswer = cluster.messages.sealAnswer({ member }, answerId);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${TUNNEL_PROTOCOL}\r\nxo-pool-tunnel: ${sealedAnswer}\r\n\r\n`,
    );
    const to = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    to.on("error", () => undefined);
    socket.pipe(to).pipe(socket);
  };
  await once(server, "listening");
  t.teardown(() => server.close());
  const address = server.address() as AddressInfo;
  addServer(cluster, `127.0.0.1:${address.port}`);
}

t.test("a server of version 0.3.0 gets tunnels, and opens them", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t);
  await addOlderHelper(t, cluster, member);
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  t.equal(await echoed(t, socket, "through an older server"), undefined);
  const local = new FramedStream(connect(await route.listen(MEMBER)));
  t.equal(await echoed(t, local, "of another process"), undefined);

  const helper = await addHelper(t, cluster, member);
  const sent = request(`http://127.0.0.1:${helper.web.port}${TUNNEL_PATH}`, {
    headers: {
      connection: "upgrade",
      upgrade: TUNNEL_PROTOCOL,
      authorization: `Bearer ${helper.seal()}`,
    },
  });
  sent.end();
  const [, older] = (await once(sent, "upgrade")) as [unknown, Socket];
  t.equal(await echoed(t, older, "for an older server"), undefined);
});

t.test(
  "what the member has sent before its end is passed on first",
  async (t) => {
    const member = await startMember(t, "the end of an export");
    const { port } = member;
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const written: (() => void)[] = [];
    let received = "";
    // The other server has ended its direction, and reads slowly.
    const client = new Duplex({
      read() {
        this.push(null);
      },
      write(chunk: Buffer, _encoding, done) {
        received += chunk.toString();
        written.push(done);
      },
    });
    const ended = closed(client);
    const isClosed = once(socket, "close");
    new Tunnel(socket, client);
    await isClosed;
    t.equal(client.destroyed, false);
    for (const done of written) done();
    t.equal(await ended, undefined);
    t.equal(received, "the end of an export");
    t.equal(client.writableFinished, true);
  },
);

t.test("a connection that is cut is not an end", async (t) => {
  const cluster = await createCluster(t);
  const member = await startMember(t, "a part of an export");
  const helper = await addHelper(t, cluster, member);
  const { route } = createClient(cluster);
  const { socket } = await route.connect(MEMBER, never);
  const local = new FramedStream(connect(await route.listen(MEMBER)));
  for (const one of [socket, local])
    t.equal(await read(one), "a part of an export");
  const ended = [closed(socket), closed(local)];
  // As the kernel does when the process is killed.
  helper.tunnels.stop();
  for (const error of await Promise.all(ended))
    t.match(error, { message: /closed before its end/ });
});
