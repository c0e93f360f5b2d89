import type { ClusterServer, Lease, Store } from "@xo-server/store";

/** A server without a heartbeat for this time is lost, in ms. */
export const LOST_MS = 30_000;

export type ClusterServerStatus = Omit<
  ClusterServer,
  "instance" | "origin" | "leavingAt"
> & {
  readonly state: "running" | "leaving" | "lost";
  readonly leases: OwnLease[];
};

/** A lease of a server that is named elsewhere. */
type OwnLease = Omit<Lease, "owner">;

/** The servers that share the database, and what each owns. @throws XoError STORE_UNAVAILABLE */
export async function listClusterServers({
  clusterServers,
  leases,
}: Pick<Store, "clusterServers" | "leases">): Promise<ClusterServerStatus[]> {
  const [servers, held] = await Promise.all([
    clusterServers.list(),
    leases.list(),
  ]);
  const valid = held.filter(({ expiresInMs }) => expiresInMs > 0);
  return servers.map((server) => ({
    ...publicFieldsOf(server),
    state: stateOf(server),
    leases: valid.filter(({ owner }) => owner === server.name).map(toOwnLease),
  }));
}

/** Names of the lost servers. @throws XoError STORE_UNAVAILABLE */
export async function findLostServers({
  clusterServers,
}: Pick<Store, "clusterServers">): Promise<readonly string[]> {
  const servers = await clusterServers.list();
  return servers.filter(isLost).map(({ name }) => name);
}

function publicFieldsOf(server: ClusterServer) {
  const { name, url, version, startedAt, seenAt, silentMs } = server;
  return { name, url, version, startedAt, seenAt, silentMs };
}

function toOwnLease({ subject, epoch, takenAt, expiresInMs }: Lease): OwnLease {
  return { subject, epoch, takenAt, expiresInMs };
}

function stateOf(server: ClusterServer): ClusterServerStatus["state"] {
  if (isLost(server)) return "lost";
  return server.leavingAt === undefined ? "running" : "leaving";
}

function isLost({ silentMs }: Pick<ClusterServer, "silentMs">): boolean {
  return silentMs >= LOST_MS;
}
