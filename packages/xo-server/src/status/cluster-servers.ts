import {
  LOST_SERVER_MS,
  type ClusterServer,
  type Lease,
  type Store,
} from "@xo-server/store";

type ClusterServerStatus = Omit<
  ClusterServer,
  "instance" | "origin" | "leavingAt" | "address" | "fingerprint"
> & {
  readonly isThisServer: boolean;
  readonly state: "running" | "leaving" | "lost";
  readonly leases: OwnLease[];
};

/** A lease without the name of its owner. */
type OwnLease = Omit<Lease, "owner">;

/**
 * The servers that share the database, with the leases of each.
 * @param self name of this server
 * @throws XoError STORE_UNAVAILABLE
 */
export async function listClusterServers(
  {
    engine,
    clusterServers,
    leases,
  }: Pick<Store, "engine" | "clusterServers" | "leases">,
  self: string,
): Promise<ClusterServerStatus[]> {
  const [servers, held] = await Promise.all([
    clusterServers.list(),
    leases.list(),
  ]);
  const valid = held.filter(({ expiresInMs }) => expiresInMs > 0);
  return servers.map((server) => ({
    ...publicFieldsOf(server),
    isThisServer: server.name === self,
    state: stateOf(server, engine),
    leases: valid.filter(({ owner }) => owner === server.name).map(toOwnLease),
  }));
}

/** Names of the lost servers. @throws XoError STORE_UNAVAILABLE */
export async function findLostServers({
  engine,
  clusterServers,
}: Pick<Store, "engine" | "clusterServers">): Promise<readonly string[]> {
  const servers = await clusterServers.list();
  return servers
    .filter((server) => isLost(server, engine))
    .map(({ name }) => name);
}

function publicFieldsOf(server: ClusterServer) {
  const { name, url, version, startedAt, seenAt, silentMs } = server;
  return { name, url, version, startedAt, seenAt, silentMs };
}

function toOwnLease({ subject, epoch, takenAt, expiresInMs }: Lease): OwnLease {
  return { subject, epoch, takenAt, expiresInMs };
}

function stateOf(
  server: ClusterServer,
  engine: Store["engine"],
): ClusterServerStatus["state"] {
  if (isLost(server, engine)) return "lost";
  return server.leavingAt === undefined ? "running" : "leaving";
}

/** A server with SQLite is the only one and writes no heartbeats. */
export function isLost(
  { silentMs }: Pick<ClusterServer, "silentMs">,
  engine: Store["engine"],
): boolean {
  return engine === "postgres" && silentMs >= LOST_SERVER_MS;
}
