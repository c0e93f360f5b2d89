import { monotonicClock, type WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Decoder, EventRelay } from "@xo-server/xen-api";
import type { Peer } from "../cluster/membership.js";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Logger } from "../log/logger.js";
import { DigestCheck, type ComparedMirror } from "./digest-check.js";
import { senderOf } from "./event-sender.js";
import { RelayClient } from "./relay-client.js";
import { RelayMessages } from "./relay-messages.js";
import { RelayServer } from "./relay-server.js";

interface EventRelaysOptions {
  readonly store: Pick<Store, "seals" | "oneTimeUses">;
  readonly cluster: Pick<Cluster, "self" | "peers">;
  readonly decoder: Pick<Decoder, "open">;
  readonly mirror: ComparedMirror;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Events of pools between the servers of one database. */
export interface EventRelays {
  readonly client: RelayClient;
  readonly server: RelayServer;
  readonly check: DigestCheck;
  /** Of the client of one pool. */
  readonly relayOf: (poolId: string) => EventRelay;
  readonly stop: () => void;
}

export function createEventRelays({
  store,
  cluster,
  decoder,
  mirror,
  clock: wallClock,
  logger,
}: EventRelaysOptions): EventRelays {
  const messages = new RelayMessages(store, wallClock);
  const { self } = cluster;
  const shared = { messages, self, clock: monotonicClock, logger };
  const check = new DigestCheck({ ...shared, mirror });
  const client = new RelayClient({ ...shared, decoder, check });
  const server = new RelayServer({ ...shared, wallClock, mirror });
  return {
    client,
    server,
    check,
    relayOf: (poolId) =>
      createRelay({
        poolId,
        client,
        server,
        findSender: senderFinder(poolId, cluster),
      }),
    stop: () => {
      client.stop();
      server.stop();
    },
  };
}

/** @returns what finds the sender; it is chosen again with each heartbeat only */
function senderFinder(
  poolId: string,
  { self, peers }: Pick<Cluster, "self" | "peers">,
): RelayParts["findSender"] {
  let known: readonly Peer[] | undefined;
  let sender: Peer | undefined;
  return () => {
    const all = peers();
    if (all === known) return sender;
    known = all;
    const name = senderOf(poolId, [self.owner, ...all.map(({ name }) => name)]);
    return (sender = all.find((peer) => peer.name === name));
  };
}

interface RelayParts {
  readonly poolId: string;
  readonly client: Pick<
    RelayClient,
    "next" | "close" | "onAnswer" | "onApplied"
  >;
  readonly server: Pick<RelayServer, "publish" | "end" | "onApplied">;
  /** @returns undefined: this server gets the events from XAPI */
  readonly findSender: () => Peer | undefined;
}

/**
 * One server requests the events of the pool from XAPI and publishes them; the others take them from
 * it. The decision is made again before each answer.
 */
export function createRelay({
  poolId,
  client,
  server,
  findSender,
}: RelayParts): EventRelay {
  return {
    async next(request) {
      const sender = findSender();
      if (sender === undefined) {
        client.close(poolId);
        return undefined;
      }
      server.end(poolId);
      return client.next(poolId, sender, request);
    },
    onAnswer(answer, followed) {
      client.onAnswer(poolId);
      if (findSender() === undefined) server.publish(poolId, answer, followed);
      // A caller waited for it: answers of the sender may be missing between those of this server.
      else server.end(poolId);
    },
    onApplied(token) {
      if (findSender() === undefined) server.onApplied(poolId, token);
      else client.onApplied(poolId, token);
    },
    onBreak() {
      client.close(poolId);
      server.end(poolId);
    },
  };
}
