import { monotonicClock, type WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Logger } from "../log/logger.js";
import { IsolationMessages } from "./isolation-messages.js";
import { IsolationServer } from "./isolation-server.js";
import { IsolationWatch } from "./isolation-watch.js";

interface IsolationOptions {
  readonly store: Store;
  readonly cluster: Pick<
    Cluster,
    "self" | "peers" | "leaseMs" | "databaseSilentMs"
  >;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Three intervals of heartbeats at most, in ms, however long leases are. */
const MAX_SILENT_MS = 15_000;

/** Whether this server alone does not reach the database. */
export interface Isolation {
  readonly watch: IsolationWatch;
  readonly server: IsolationServer;
}

export function createIsolation({
  store,
  cluster,
  clock: wallClock,
  logger,
}: IsolationOptions): Isolation {
  const messages = new IsolationMessages(store, wallClock);
  const { self, peers, leaseMs, databaseSilentMs } = cluster;
  const shared = { messages, store, self, clock: monotonicClock, logger };
  const silentMs = Math.min(leaseMs, MAX_SILENT_MS);
  return {
    watch: new IsolationWatch({
      ...shared,
      peers,
      databaseSilentMs,
      silentMs,
    }),
    server: new IsolationServer({ ...shared, wallClock }),
  };
}
