import { once } from "node:events";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { XoError } from "@xo-server/model";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import t, { type Test } from "tap";
import type { Peer } from "../src/cluster/membership.js";
import { TunnelClient } from "../src/tunnels/tunnel-client.js";
import {
  TUNNEL_PATH,
  TUNNEL_PROTOCOL,
  TunnelMessages,
} from "../src/tunnels/tunnel-messages.js";
import { TunnelServer } from "../src/tunnels/tunnel-server.js";
import { FakeClock } from "./fake-clock.js";
import { addServer, createPeers, startPeerServer } from "./peer-servers.js";

export const never: AbortSignal = new AbortController().signal;
export const MEMBER = "https://192.0.2.1";

export async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key, level: "debug" });
  return { ...peers, messages: new TunnelMessages(peers.store, peers.clock) };
}

export type Cluster = Awaited<ReturnType<typeof createCluster>>;

/** A member of a pool that returns what it receives. @param greeting is sent first */
export async function startMember(t: Test, greeting = "") {
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
export async function addHelper(
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
export function createClient({ messages, logger, servers }: Cluster) {
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

export async function read(socket: Duplex): Promise<string> {
  const [chunk] = (await once(socket, "data")) as [Buffer];
  return chunk.toString();
}

/** Resolves with the error, if there was one. */
export function closed(socket: Duplex): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let failure: Error | undefined;
    socket.once("error", (error) => (failure = error));
    socket.once("close", () => resolve(failure));
  });
}
