import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { snapshotLayout, type SnapshotCopy } from "@xo-server/inventory";
import type { Test } from "tap";
import { Tls } from "../src/api/tls/start-tls.js";
import { COPY_PATH, CopyMessages } from "../src/pool-copies/copy-messages.js";
import { CopyServer } from "../src/pool-copies/copy-server.js";
import { addServer, createPeers, startPeerServer } from "./peer-servers.js";

export const CONTENT = randomBytes(300_000);

/** What is sent as the snapshot of the pool `p`. */
export function copyOf(body: Readable, bytes = CONTENT.length): SnapshotCopy {
  const key = Buffer.alloc(32, 7);
  return { objects: 3, digest: "0123456789abcdef", bytes, key, body };
}

/** The servers of one database, and the messages between them. */
export async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key });
  return { ...peers, messages: new CopyMessages(peers.store, peers.clock) };
}

export type Cluster = Awaited<ReturnType<typeof createCluster>>;

interface SenderOptions {
  readonly openSnapshotCopy?: (
    poolId: string,
  ) => Promise<SnapshotCopy | undefined>;
  readonly tls?: Tls;
  /** Key of another database. */
  readonly messages?: CopyMessages;
}

/** A server that has the pool `p`. */
export async function addSender(
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
