import { monotonicClock, type WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Logger } from "../log/logger.js";
import { TunnelClient } from "./tunnel-client.js";
import { TunnelMessages } from "./tunnel-messages.js";
import { TunnelServer, type TunnelServerOptions } from "./tunnel-server.js";

interface TunnelsOptions extends Pick<TunnelServerOptions, "xapiOf"> {
  readonly store: Pick<Store, "seals" | "oneTimeUses">;
  readonly cluster: Pick<Cluster, "self" | "peers">;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Logger;
}

/** Connections to pools through other servers of the database. */
export interface Tunnels {
  readonly client: TunnelClient;
  readonly server: TunnelServer;
}

export function createTunnels({
  store,
  cluster: { self, peers },
  clock: wallClock,
  logger,
  xapiOf,
}: TunnelsOptions): Tunnels {
  const messages = new TunnelMessages(store, wallClock);
  const shared = { messages, self, clock: monotonicClock, logger };
  return {
    client: new TunnelClient({ ...shared, peers }),
    server: new TunnelServer({ ...shared, wallClock, xapiOf }),
  };
}
