import type { Lease } from "@xo-server/store";

/** Subject of the lease on the tasks of a server: it is not distributed among servers. */
export function serverSubject(name: string): string {
  return `${SERVER}${name}`;
}

const SERVER = "server/";

/** Whether the subject is a server itself, whose lease is never handed over. */
export function isServerSubject(subject: string): boolean {
  return subject.startsWith(SERVER);
}

/** Number of leases that one of several servers takes at first, so that the others can take theirs. */
export function fairShare(subjects: number, servers: number): number {
  return Math.ceil(subjects / Math.max(1, servers));
}

/** The subjects in the order in which a server tries to take them: each server begins at another one, so that they do not compete. */
export function inServerOrder<T>(
  subjects: readonly T[],
  name: string,
  servers: readonly string[],
): readonly T[] {
  const index = Math.max(0, servers.toSorted().indexOf(name));
  const begin = Math.floor(
    (index * subjects.length) / Math.max(1, servers.length),
  );
  return [...subjects.slice(begin), ...subjects.slice(0, begin)];
}

/**
 * The server that should have one more lease, because this one has at least two more.
 * @param servers names of the running servers
 * @param leaseMs how long a lease is valid after a renewal
 */
export function leastLoadedServer(
  name: string,
  servers: readonly string[],
  leases: readonly Pick<Lease, "subject" | "owner" | "expiresInMs">[],
  leaseMs: number,
): string | undefined {
  const silent = silentServers(leases, leaseMs);
  const counts = new Map(
    servers
      .filter((server) => !silent.has(server))
      .map((server) => [server, 0]),
  );
  for (const { subject, owner, expiresInMs } of leases)
    if (!isServerSubject(subject) && expiresInMs > 0 && counts.has(owner))
      counts.set(owner, counts.get(owner)! + 1);
  const own = counts.get(name) ?? 0;
  const [least] = [...counts].toSorted(([, a], [, b]) => a - b);
  return least !== undefined && least[1] + 2 <= own ? least[0] : undefined;
}

/**
 * Servers that no longer renew the lease on their tasks. One that was killed is listed as
 * running for a moment after others have taken what it had, and would be the least loaded.
 */
function silentServers(
  leases: readonly Pick<Lease, "subject" | "owner" | "expiresInMs">[],
  leaseMs: number,
): ReadonlySet<string> {
  const silent = leases.filter(
    ({ subject, owner, expiresInMs }) =>
      isServerSubject(subject) &&
      (subject !== serverSubject(owner) || expiresInMs < leaseMs / 2),
  );
  return new Set(silent.map(({ subject }) => subject.slice(SERVER.length)));
}
