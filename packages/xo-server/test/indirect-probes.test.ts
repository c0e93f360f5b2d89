import { randomBytes } from "node:crypto";
import { XoError } from "@xo-server/model";
import type { HostProbe, ProbeOptions } from "@xo-server/xen-api";
import t, { type Test } from "tap";
import type { Peer } from "../src/cluster/membership.js";
import type { OperationContext } from "../src/methods/definition/define-operation.js";
import { serverProbe } from "../src/methods/pool/server-probe.js";
import { HostProber } from "../src/probes/host-prober.js";
import { ProbeClient } from "../src/probes/probe-client.js";
import { PROBE_PATH, ProbeMessages } from "../src/probes/probe-messages.js";
import { PROBE_MS, ProbeServer } from "../src/probes/probe-server.js";
import type { PublicProbe } from "../src/probes/public-probe.js";
import {
  addOther,
  addServer,
  createPeers,
  startPeerServer,
  until,
} from "./peer-servers.js";

type Probe = (options: ProbeOptions) => Promise<HostProbe>;

const ADDRESS = "192.0.2.1:443";
const certificate = {
  fingerprint: "ab".repeat(32),
  subject: "xen1",
  issuer: "xen1",
  names: "xen1",
  validFrom: 1,
  validTo: 2,
  isSelfSigned: true,
  distrust: "DEPTH_ZERO_SELF_SIGNED_CERT",
};

const unreached: Probe = async () => ({
  address: ADDRESS,
  error: new XoError("UNREACHABLE", { reason: "EHOSTUNREACH" }),
});
const reached: Probe = async () => ({ address: ADDRESS, certificate });

async function createCluster(t: Test, key?: string) {
  const peers = await createPeers(t, { key, level: "debug" });
  return { ...peers, messages: new ProbeMessages(peers.store, peers.clock) };
}

type Cluster = Awaited<ReturnType<typeof createCluster>>;

/** Another server, which finds this at each host. */
async function addHelper(t: Test, cluster: Cluster, probe: Probe) {
  const { clock, logger, messages, servers } = cluster;
  const name = `xo${servers.length + 2}`;
  const probed: ProbeOptions[] = [];
  const server = new ProbeServer({
    messages,
    prober: new HostProber({} as never, (options) => {
      probed.push(options);
      return probe(options);
    }),
    self: { owner: name, instance: `1 ${name}` },
    clock,
    wallClock: clock,
    logger,
  });
  const web = await startPeerServer(t, cluster, { probes: server });
  const peer = addServer(cluster, `127.0.0.1:${web.port}`);
  const url = `http://127.0.0.1:${web.port}${PROBE_PATH}`;
  return { probed, peer, url };
}

/** Calls server.probe at a server that finds this at each host. */
function probeAt(
  { messages, servers, clock, logger }: Cluster,
  probe: Probe,
  more: object = {},
): Promise<PublicProbe & { readonly via?: string }> {
  const self = { owner: "xo1", instance: "1 xo1" };
  const peers = () => servers as Peer[];
  const client = new ProbeClient({ messages, self, peers, clock, logger });
  const prober = new HostProber({} as never, probe);
  const services = { probes: { prober, client } };
  const { signal } = new AbortController();
  const context = { services, signal } as unknown as OperationContext;
  const params = { host: "192.0.2.1", ...more } as never;
  return serverProbe.handler(params, context) as never;
}

t.test(
  "what a server does not reach is probed by another one, which is named",
  async (t) => {
    const cluster = await createCluster(t);
    await addHelper(t, cluster, unreached);
    const { probed } = await addHelper(t, cluster, reached);
    const httpProxy = "http://192.0.2.9:3128";
    t.same(await probeAt(cluster, unreached, { httpProxy }), {
      address: ADDRESS,
      isReachable: true,
      certificate: { ...certificate, isTrusted: false },
      via: "xo3",
    });
    t.match(probed, [{ host: "192.0.2.1", proxy: httpProxy }]);
    t.match(cluster.lines.join(""), "probing 192.0.2.1 for server xo1");
  },
);

t.test("what a server reaches is not probed by others", async (t) => {
  const cluster = await createCluster(t);
  const { probed } = await addHelper(t, cluster, reached);
  const found = await probeAt(cluster, reached);
  t.match(found, { isReachable: true });
  t.notOk(Object.hasOwn(found, "via"));
  t.same(probed, []);
});

t.test(
  "a host that no server reaches has the problem of the own one",
  async (t) => {
    const cluster = await createCluster(t);
    await addHelper(t, cluster, async () => ({
      address: ADDRESS,
      error: new XoError("CONNECTION_REFUSED", { address: ADDRESS }),
    }));
    await addOther(t, cluster, (_request, response) => {
      response.statusCode = 404;
      response.end();
    });
    t.same(await probeAt(cluster, unreached), {
      address: ADDRESS,
      isReachable: false,
      problem: "unreachable",
    });
  },
);

t.test(
  "another server reveals nothing about programs other than XAPI",
  async (t) => {
    const cluster = await createCluster(t);
    await addHelper(t, cluster, async () => ({
      address: ADDRESS,
      error: new XoError("BAD_ANSWER", { reason: "secrets of an intranet" }),
    }));
    t.same(await probeAt(cluster, unreached), {
      address: ADDRESS,
      isReachable: true,
      problem: "not-a-xapi",
      via: "xo2",
    });
  },
);

t.test("a slow host is given up before the other server is", async (t) => {
  const cluster = await createCluster(t);
  const { probed } = await addHelper(
    t,
    cluster,
    ({ signal }) =>
      new Promise((resolve) => {
        signal!.addEventListener("abort", () => {
          const error = new XoError("ABORTED", { what: "the probe" });
          resolve({ address: ADDRESS, error });
        });
      }),
  );
  const probe = probeAt(cluster, unreached);
  await until(() => probed.length > 0);
  cluster.clock.pass(PROBE_MS);
  t.match(await probe, { isReachable: false, problem: "unreachable" });
});

t.test(
  "an answer that is too long, or not authentic, is not used",
  async (t) => {
    const cluster = await createCluster(t);
    await addOther(t, cluster, (_request, response) => {
      response.end("x".repeat(200_000));
    });
    await addOther(t, cluster, (_request, response) => {
      response.end(JSON.stringify({ isReachable: true }));
    });
    t.match(await probeAt(cluster, unreached), { isReachable: false });
    const log = cluster.lines.join("");
    t.match(log, "its answer is too long");
    t.match(log, "its answer is not authentic");
  },
);

t.test(
  "only servers of the database can have hosts probed, each request once",
  async (t) => {
    const cluster = await createCluster(t);
    const { probed, peer, url } = await addHelper(t, cluster, reached);
    const send = async (sealed: string) =>
      (await fetch(url, { headers: { authorization: `Bearer ${sealed}` } }))
        .status;
    const request = { host: "192.0.2.1", from: "xo1" };
    const other = await createCluster(t, randomBytes(32).toString("base64"));
    const { sealed: forged } = other.messages.sealRequest({
      ...request,
      to: peer.instance,
    });
    t.equal(await send(forged), 403);
    const { sealed: misdirected } = cluster.messages.sealRequest({
      ...request,
      to: "1 xo9",
    });
    t.equal(await send(misdirected), 403);
    t.same(probed, []);
    const { sealed } = cluster.messages.sealRequest({
      ...request,
      to: peer.instance,
    });
    t.equal(await send(sealed), 200);
    t.equal(await send(sealed), 403);
    t.equal(probed.length, 1);
  },
);
