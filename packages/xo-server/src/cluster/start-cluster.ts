import { hostname } from "node:os";
import { monotonicClock, wallClock, type MonotonicClock } from "@xo-server/kit";
import type { XoError } from "@xo-server/model";
import type { LeaseOwner, ServerAddress, Store } from "@xo-server/store";
import type { Config } from "../config/config.js";
import { version } from "../config/version.js";
import { toOrigin } from "./origin.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Logger } from "../log/logger.js";
import { AwakeClock } from "./awake-clock.js";
import { serverSubject } from "./fair-share.js";
import type { HeldLease } from "./held-lease.js";
import { Leases } from "./leases.js";
import {
  isOtherProcess,
  Membership,
  newInstance,
  type Peer,
} from "./membership.js";

/** This server among those that share the database. */
export interface Cluster {
  readonly self: LeaseOwner;
  /** Other servers may have the same database. */
  readonly isShared: boolean;
  readonly leases: Pick<Leases, "compete">;
  /** It takes no leases until its next start, and hands over those that it has. */
  readonly isLeaving: boolean;
  /** Time since it began to leave, in ms; 0: it does not leave. */
  readonly leavingForMs: number;
  /**
   * Hands over automatic work, such as schedules and load balancers; tasks stay until
   * the server stops. Never rejects.
   */
  readonly leave: () => Promise<void>;
  /** The current lease on the tasks of this server; while it has none, the last one. */
  readonly serverLease: () => HeldLease;
  /** Writes the address of this server into the database from now on. */
  readonly announce: (read: () => ServerAddress) => void;
  /** Names of the running servers that do not leave, as of the last heartbeat. */
  readonly running: () => readonly string[];
  /** The other running servers that do not leave and can be reached, as of the last heartbeat. */
  readonly peers: () => readonly Peer[];
  /** Time since the last heartbeat that the database has answered, in ms. */
  readonly databaseSilentMs: () => number;
  /** After this time without heartbeats the tasks of a server are taken over. */
  readonly leaseMs: number;
}

interface StartClusterParts {
  readonly store: Store;
  readonly config: Pick<Config, "dataDir" | "server">;
  /** URL at which clients reach this server; empty: not known. */
  readonly url: string;
  readonly clock?: MonotonicClock;
  readonly logger: Logger;
  readonly stops: StopStack;
  /** Ends the process at once. */
  readonly abandon: (reason: XoError) => void;
}

/**
 * Joins the servers of the database, and takes the lease on the tasks of this server.
 * @throws XoError CONFIG_INVALID: another running server has the name; STORE_UNAVAILABLE;
 *   STORE_TOO_NEW
 */
export async function startCluster({
  store,
  config,
  url,
  clock = monotonicClock,
  logger,
  stops,
  abandon,
}: StartClusterParts): Promise<Cluster> {
  const { leaseMs } = config.server;
  const name = config.server.name || hostname();
  const self = { owner: name, instance: newInstance() };
  const isShared = store.engine === "postgres";
  const origin = toOrigin(config.dataDir);
  const membership = new Membership({
    store: store.clusterServers,
    self: { name, instance: self.instance, origin, url, version },
    isShared,
    silentMs: leaseMs,
    isRunning: isOtherProcess,
    onLeave: () => {
      logger.info(
        "Handing over all leases: this server acquires none until its next start",
      );
      void leases.leave();
    },
    onTooNew: abandon,
    clock,
    logger,
  });
  const leases = new Leases({
    store: store.leases,
    self,
    isShared,
    servers: () => membership.running,
    leaseMs,
    clock: new AwakeClock(clock, wallClock),
    logger,
  });
  const ended = await membership.join();
  const stopListening = store.onClusterNotice(() => {
    // The number of running servers determines how many leases this one may take.
    void membership.refresh().then(() => leases.check());
  });
  stops.push("leases", async () => {
    stopListening();
    await leases.stop();
    await membership.stop();
  });
  if (ended !== undefined) await store.leases.inherit(self, ended);
  await store.leases.prune();
  const serverLease = await holdServerLease(leases, name);
  return {
    self,
    isShared,
    leases,
    get isLeaving() {
      return membership.isLeaving;
    },
    get leavingForMs() {
      return membership.leavingForMs;
    },
    async leave() {
      // The database is unreachable: the leases expire when the server has ended.
      await membership.leave().catch(() => undefined);
      await leases.leave();
    },
    serverLease,
    announce: (read) => {
      membership.announce(read);
    },
    running: () => membership.running,
    peers: () => membership.peers,
    databaseSilentMs: () => membership.databaseSilentMs,
    leaseMs,
  };
}

/** Resolves when the lease is held: another server may be adopting the tasks of the last run. */
function holdServerLease(
  leases: Leases,
  name: string,
): Promise<() => HeldLease> {
  return new Promise((resolve) => {
    let last: HeldLease | undefined;
    leases.compete(serverSubject(name), {
      onHeld: (lease) => {
        last = lease;
        resolve(() => last!);
      },
      mayMove: () => false,
    });
  });
}
