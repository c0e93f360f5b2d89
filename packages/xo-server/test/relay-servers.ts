import { createParserPool } from "@xo-server/parser-pool";
import type { EventAnswer, RelayRequest } from "@xo-server/xen-api";
import type { Test } from "tap";
import type { ClassDigests } from "../src/event-relay/digest-frame.js";
import { decodeAnswer, encodeAnswer } from "../src/event-relay/event-answer.js";
import { RelayClient } from "../src/event-relay/relay-client.js";
import {
  EVENTS_PATH,
  RelayMessages,
} from "../src/event-relay/relay-messages.js";
import { RelayServer } from "../src/event-relay/relay-server.js";
import { FakeClock } from "./fake-clock.js";
import {
  addServer,
  createPeers,
  startPeerServer,
  until,
} from "./peer-servers.js";

const ISSUER = "OpaqueRef:1 1795236000.";
export const FOLLOWED = { issuer: ISSUER, classes: ["*"] };

/** Decodes small answers where it is called: it starts no thread that would have to end. */
const decoder = createParserPool({ startsOnDemand: true });

export const tokenOf = (n: number) => `${n},${n * 10}`;

/** An answer of event.from with one changed VM for each name. */
export function answerOf(n: number, ...names: string[]): Promise<EventAnswer> {
  const events = names.map((name) => ({
    class: "vm",
    operation: "mod",
    ref: `OpaqueRef:${name}`,
    snapshot: { uuid: name, name_label: `VM ${name} ✓`, VCPUs_max: "4" },
  }));
  const deleted = { class: "vbd", operation: "del", ref: "OpaqueRef:gone" };
  const result = {
    events: names.length === 0 ? [] : [...events, deleted],
    valid_ref_counts: { vm: n },
  };
  const text = JSON.stringify({ result: { ...result, token: tokenOf(n) } });
  return decodeAnswer(Buffer.from(`${tokenOf(n)}\n${text}`), decoder, "test");
}

/** What an answer says, without the layout of its bytes. */
const contentOf = (answer: EventAnswer | undefined) =>
  answer && encodeAnswer(answer, Infinity)!.toString();

export async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key, level: "debug" });
  return { ...peers, messages: new RelayMessages(peers.store, peers.clock) };
}

type Cluster = Awaited<ReturnType<typeof createCluster>>;

/** A server that sends events. */
export async function addSender(
  t: Test,
  cluster: Cluster,
  own: { readonly digests?: ClassDigests; readonly clock?: FakeClock } = {},
) {
  const { logger, messages, servers } = cluster;
  const { digests = {}, clock = cluster.clock } = own;
  const name = `xo${servers.length + 2}`;
  const events = new RelayServer({
    messages,
    mirror: { digestsOf: () => digests },
    self: { owner: name, instance: `1 ${name}` },
    clock,
    wallClock: cluster.clock,
    logger,
  });
  t.teardown(() => {
    events.stop();
  });
  const web = await startPeerServer(t, cluster, { events });
  const peer = addServer(cluster, `127.0.0.1:${web.port}`);
  const publish = async (n: number, ...names: string[]) => {
    const answer = await answerOf(n, ...names);
    events.publish("p", answer, FOLLOWED);
    return contentOf(answer);
  };
  /** Sends a sealed request. */
  const send = (sealed: string) =>
    fetch(`http://127.0.0.1:${web.port}${EVENTS_PATH}`, {
      headers: { authorization: `Bearer ${sealed}` },
    });
  const seal = (change: object = {}) =>
    cluster.messages.sealRequest({
      ...FOLLOWED,
      poolId: "p",
      from: "xo1",
      to: peer.instance,
      ...change,
    }).sealed;
  return { events, web, peer, publish, send, seal };
}

type Peer = Awaited<ReturnType<typeof addSender>>["peer"];

export function requestOf(
  change: Partial<RelayRequest> & Pick<RelayRequest, "token">,
): RelayRequest {
  return { ...FOLLOWED, waitMs: 13_000, signals: [], ...change };
}

/** The server xo1, which receives events. */
export function createClient(
  t: Test,
  { clock, logger, messages }: Cluster,
  peer: Peer,
) {
  const compared: unknown[] = [];
  const client = new RelayClient({
    messages,
    self: { owner: "xo1", instance: "1 xo1" },
    decoder,
    check: { compare: (...parts) => compared.push(parts) },
    clock,
    logger,
  });
  t.teardown(() => {
    client.stop();
  });
  const next = async (n: number, change: Partial<RelayRequest> = {}) =>
    contentOf(
      await client.next("p", peer, requestOf({ token: tokenOf(n), ...change })),
    );
  /** Opens the stream. */
  const open = async (n = 100) => {
    const first = await next(n);
    t.equal(first, undefined, "XAPI is asked until the stream is open");
    await until(() => client.figures.streams === 1);
  };
  return { client, next, open, compared };
}
