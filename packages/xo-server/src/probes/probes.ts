import { monotonicClock, type WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Decoder } from "@xo-server/xen-api";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Logger } from "../log/logger.js";
import { HostProber } from "./host-prober.js";
import { ProbeClient } from "./probe-client.js";
import { ProbeMessages } from "./probe-messages.js";
import { ProbeServer } from "./probe-server.js";

interface ProbesOptions {
  readonly decoder: Decoder;
  readonly store: Pick<Store, "seals" | "oneTimeUses">;
  readonly cluster: Pick<Cluster, "self" | "peers" | "isShared">;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Finds out what answers at an address before a pool is added. */
export interface Probes {
  readonly prober: HostProber;
  /** From other servers. Undefined: no other server has this database. */
  readonly client: ProbeClient | undefined;
  /** For other servers. Undefined: no other server has this database. */
  readonly server: ProbeServer | undefined;
}

export function createProbes({
  decoder,
  store,
  cluster: { self, peers, isShared },
  clock: wallClock,
  logger,
}: ProbesOptions): Probes {
  const prober = new HostProber(decoder);
  if (!isShared) return { prober, client: undefined, server: undefined };
  const messages = new ProbeMessages(store, wallClock);
  const shared = { messages, self, clock: monotonicClock, logger };
  return {
    prober,
    client: new ProbeClient({ ...shared, peers }),
    server: new ProbeServer({ ...shared, prober, wallClock }),
  };
}
