import { pause, type MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import {
  LOST_SERVER_MS,
  type ClusterServer,
  type Lease,
  type Store,
} from "@xo-server/store";
import { isServerSubject } from "./fair-share.js";

/** What happened to the leases of a server whose leave was requested. */
export interface HandOver {
  readonly moved: { subject: string; to: string }[];
  /** Subjects whose lease no server has taken yet. */
  readonly free: string[];
  /** Subjects whose lease it still has: their work cannot move now. */
  readonly remaining: string[];
}

interface AskToLeaveParts {
  readonly store: Pick<Store, "engine" | "clusterServers" | "leases">;
  readonly clock: MonotonicClock;
}

/** How long the hand-over is awaited, in ms. */
const WAIT_MS = 10_000;
/** Interval of reading the leases, in ms. */
const POLL_MS = 100;

/**
 * Asks a running server to hand over its leases and to take none until its next start.
 * It still serves its clients, and carries out its tasks.
 * @param isForced also if no other server runs
 * @returns when all its leases have other owners, or after 10 s
 * @throws XoError NO_SUCH_OBJECT; FORBIDDEN_OPERATION: SQLite, it does not run, or no other
 *   server runs; STORE_UNAVAILABLE
 */
export async function requestLeave(
  name: string,
  isForced: boolean,
  { store, clock }: AskToLeaveParts,
): Promise<HandOver> {
  if (store.engine === "sqlite")
    throw notPossible(
      "with SQLite there is one server, and none to hand over to; stop it instead",
    );
  const others = checkServers(name, await store.clusterServers.list());
  if (others.length === 0 && !isForced)
    throw notPossible(
      `no other server runs that could take over from ${name}`,
      { canForce: true },
    );
  const owned = ownedBy(name, await store.leases.list());
  await store.clusterServers.leave(name);
  const until = clock.now() + WAIT_MS;
  for (;;) {
    const result = toHandOver(name, owned, await store.leases.list());
    const { free, remaining } = result;
    const isDone =
      remaining.length === 0 && (free.length === 0 || others.length === 0);
    if (isDone || clock.now() >= until) return result;
    await pause(clock, POLL_MS);
  }
}

/** @returns the servers that can take over */
function checkServers(
  name: string,
  servers: readonly ClusterServer[],
): readonly ClusterServer[] {
  const found = servers.find((server) => server.name === name);
  if (found === undefined)
    throw new XoError("NO_SUCH_OBJECT", {
      type: "server",
      id: name,
      known: servers.map((server) => server.name),
    });
  if (found.silentMs >= LOST_SERVER_MS)
    throw notPossible(`${name} does not run: others have taken over already`);
  return servers.filter(
    (server) =>
      server !== found &&
      server.silentMs < LOST_SERVER_MS &&
      server.leavingAt === undefined,
  );
}

/**
 * @param data added to the data of the error; `canForce`: the caller may repeat the
 *   call with `force`
 */
function notPossible(
  reason: string,
  data: { readonly canForce?: true } = {},
): XoError {
  return new XoError("FORBIDDEN_OPERATION", {
    operation: "leave",
    reason,
    ...data,
  });
}

function ownedBy(name: string, leases: readonly Lease[]): readonly string[] {
  return leases
    .filter(({ owner, expiresInMs }) => owner === name && expiresInMs > 0)
    .map(({ subject }) => subject)
    .filter((subject) => !isServerSubject(subject));
}

function toHandOver(
  name: string,
  subjects: readonly string[],
  leases: readonly Lease[],
): HandOver {
  const owners = new Map(
    leases
      .filter(({ expiresInMs }) => expiresInMs > 0)
      .map(({ subject, owner }) => [subject, owner]),
  );
  const to = (subject: string) => owners.get(subject);
  return {
    moved: subjects
      .filter((subject) => ![name, undefined].includes(to(subject)))
      .map((subject) => ({ subject, to: to(subject)! })),
    free: subjects.filter((subject) => to(subject) === undefined),
    remaining: subjects.filter((subject) => to(subject) === name),
  };
}
