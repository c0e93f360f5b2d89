import type { Lease } from "@xo-server/store";

/** Subject of the lease on the tasks of a server: it is not shared out. */
export function serverSubject(name: string): string {
  return `${SERVER}${name}`;
}

const SERVER = "server/";

export function isServerSubject(subject: string): boolean {
  return subject.startsWith(SERVER);
}

/** Number of leases that one of several servers takes before the others had a chance. */
export function fairShare(subjects: number, servers: number): number {
  return Math.ceil(subjects / Math.max(1, servers));
}

/**
 * The server that should have one more lease, because this one has at least two more.
 * @param servers names of the running servers
 */
export function whomToGive(
  name: string,
  servers: readonly string[],
  leases: readonly Pick<Lease, "subject" | "owner" | "expiresInMs">[],
): string | undefined {
  const counts = new Map(servers.map((server) => [server, 0]));
  for (const { subject, owner, expiresInMs } of leases)
    if (!isServerSubject(subject) && expiresInMs > 0 && counts.has(owner))
      counts.set(owner, counts.get(owner)! + 1);
  const own = counts.get(name) ?? 0;
  const [least] = [...counts].toSorted(([, a], [, b]) => a - b);
  return least !== undefined && least[1] + 2 <= own ? least[0] : undefined;
}
