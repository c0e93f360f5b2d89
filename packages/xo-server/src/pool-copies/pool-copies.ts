import type { Inventory } from "@xo-server/inventory";
import { monotonicClock, type WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Logger } from "../log/logger.js";
import { CopyClient } from "./copy-client.js";
import { CopyMessages } from "./copy-messages.js";
import { CopyServer } from "./copy-server.js";

interface PoolCopiesOptions extends Pick<Inventory, "openSnapshotCopy"> {
  readonly store: Store;
  readonly cluster: Pick<Cluster, "self" | "leaseMs">;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** Copies of pools between the servers of one database. */
export interface PoolCopies {
  readonly client: CopyClient;
  readonly server: CopyServer;
}

export function createPoolCopies({
  store,
  cluster: { self, leaseMs },
  clock: wallClock,
  logger,
  openSnapshotCopy,
}: PoolCopiesOptions): PoolCopies {
  const messages = new CopyMessages(store, wallClock);
  const shared = { messages, self, clock: monotonicClock, logger };
  return {
    client: new CopyClient({ ...shared, store, silentMs: leaseMs }),
    server: new CopyServer({ ...shared, wallClock, openSnapshotCopy }),
  };
}
