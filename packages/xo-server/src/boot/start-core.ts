import { wallClock, type WallClock } from "@xo-server/kit";
import type { Inventory } from "@xo-server/inventory";
import type { LoopMonitor } from "@xo-server/perf";
import type { Store } from "@xo-server/store";
import { toPageUrl } from "../alarms/page-url.js";
import { startCluster, type Cluster } from "../cluster/start-cluster.js";
import type { ApiClient } from "../api/json-rpc/api-client.js";
import {
  startAuditForwarding,
  type ReadForwarding,
} from "../audit-forwarding/start-audit-forwarding.js";
import { LimitHits } from "../limits/limit-hits.js";
import { PoolObjects } from "../objects/pool-objects.js";
import type { StoredPool } from "../objects/snapshot-cache-options.js";
import { logMissingPools } from "./log-config-summary.js";
import { startInventory } from "../objects/start-inventory.js";
import { startObjects, type Objects } from "../objects/start-objects.js";
import type { Audit } from "../operations/audit.js";
import { startAudit } from "./start-audit.js";
import {
  createPoolCopies,
  type PoolCopies,
} from "../pool-copies/pool-copies.js";
import {
  createEventRelays,
  type EventRelays,
} from "../event-relay/event-relays.js";
import type { ComparedMirror } from "../event-relay/digest-check.js";
import { createTunnels, type Tunnels } from "../tunnels/tunnels.js";
import { createIsolation, type Isolation } from "../isolation/isolation.js";
import { createProbes, type Probes } from "../probes/probes.js";
import { DemoPools } from "../pools/demo-pools.js";
import { createLivePools } from "../pools/live-pools.js";
import { createPools, type Pools } from "../pools/pools.js";
import { deletePoolEndpoints } from "../pools/pool-endpoints.js";
import { StoredPools } from "../pools/stored-pools.js";
import type { Parser } from "../parser/parser.js";
import type { ServerOptions } from "./server-options.js";
import { startMonitor } from "./start-monitor.js";
import { startParser } from "../parser/start-parser.js";
import {
  startTelemetry,
  type Telemetry,
} from "../telemetry/start-telemetry.js";
import { startStore } from "./start-store.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/** The database, the pools and the mirror of their objects. */
export interface Core {
  readonly clock: WallClock;
  readonly monitor: LoopMonitor;
  readonly parser: Parser;
  readonly store: Store;
  readonly cluster: Cluster;
  readonly audit: Audit;
  readonly readForwarding: ReadForwarding;
  /** Undefined: traces are disabled. */
  readonly telemetry: Telemetry | undefined;
  readonly inventory: Inventory;
  /** Undefined: no other server has this database. */
  readonly copies: PoolCopies | undefined;
  /** Undefined: no other server has this database. */
  readonly relays: EventRelays | undefined;
  /** Undefined: no other server has this database. */
  readonly tunnels: Tunnels | undefined;
  /** Undefined: no other server has this database. */
  readonly isolation: Isolation | undefined;
  readonly probes: Probes;
  readonly views: Objects;
  /** Created, but not connected yet. */
  readonly pools: Pools;
  readonly storedPools: StoredPools;
  readonly demoPools: DemoPools;
  readonly objects: PoolObjects;
  /** Clients of the WebSocket API; the web server adds and removes them. */
  readonly clients: Set<ApiClient>;
  readonly limitHits: LimitHits;
}

/**
 * Starts the lowest layer: monitor, parser, database, pools, inventory and its
 * views.
 * @throws XoError the database cannot be used
 */
export async function startCore(
  serverOptions: ServerOptions,
  stops: StopStack,
): Promise<Core> {
  const { loggers } = serverOptions;
  const logger = loggers.named("xo:main");
  const monitor = startMonitor(serverOptions, stops);
  const parser = startParser(serverOptions, stops);
  const store = await startStore(serverOptions, stops);
  const clock = serverOptions.clock ?? toServerClock(store);
  const options = { ...serverOptions, clock };
  const cluster = await startCluster({
    store,
    config: options.config,
    url: toPageUrl(options.config) ?? "",
    logger,
    stops,
    abandon:
      serverOptions.abandon ?? ((error) => logger.error("unusable", { error })),
  });
  const stored = [...store.servers.list()];
  logMissingPools(serverOptions, stored);
  // Loaded in parallel with the rest of the start; without stored pools, when the
  // first pool is connected.
  if (stored.length > 0 && options.createPool === undefined)
    void parser.warmUp();
  const { inventory, copies } = await startMirror(
    { monitor, store, cluster, stored },
    options,
    stops,
  );
  const views = startObjects(inventory, options, stops);
  const between = startBetweenServers(
    { store, cluster, parser, inventory, xapiOf: (id) => pools.xapi(id) },
    options,
    stops,
  );
  const pools: Pools = createPools({
    createPool:
      options.createPool ??
      createLivePools({
        ...options,
        ...parser,
        inventory,
        relayOf: between.relays?.relayOf,
        routeOf: (id) => between.tunnels?.client.routeOf(id),
      }),
    forgetPool: (id) => inventory.removePool(id),
    clock,
    logger,
  });
  return {
    clock,
    monitor,
    parser,
    store,
    readForwarding: startAuditForwarding(
      { ...options, store, owner: cluster.self.owner, clock },
      stops,
    ),
    telemetry: startTelemetry(
      { ...options, owner: cluster.self.owner, clock },
      stops,
    ),
    cluster,
    audit: await startAudit({ store, cluster }, options, stops),
    inventory,
    copies,
    ...between,
    views,
    pools,
    storedPools: createStoredPools({ store, pools, views }, options),
    demoPools: new DemoPools({ ...options, pools, logger }),
    objects: new PoolObjects(views.catalog, pools, {}, views.loadedPools),
    clients: new Set(),
    limitHits: new LimitHits(),
  };
}

function createStoredPools(
  { store, pools, views }: Pick<Core, "store" | "pools" | "views">,
  { config, loggers }: ServerOptions,
): StoredPools {
  return new StoredPools({
    servers: store.servers,
    onForeignChange: (listener) => store.onForeignChange(listener),
    pools,
    hold: () => views.loadedPools.hold(),
    deleteEndpoints: (id) => deletePoolEndpoints(config.dataDir, id),
    logger: loggers.named("xo:main"),
  });
}

interface MirrorParts extends Pick<Core, "monitor" | "store" | "cluster"> {
  readonly stored: readonly StoredPool[];
}

/** Starts the mirror of all pools, and copies of it between servers. */
async function startMirror(
  { monitor, store, cluster, stored }: MirrorParts,
  options: ServerOptions & { readonly clock: WallClock },
  stops: StopStack,
): Promise<Pick<Core, "inventory" | "copies">> {
  const copies = cluster.isShared
    ? createPoolCopies({
        store,
        cluster,
        clock: options.clock,
        logger: options.loggers.named("xo:copies"),
        openSnapshotCopy: (poolId) => inventory.openSnapshotCopy(poolId),
      })
    : undefined;
  const inventory: Inventory = await startInventory(
    {
      monitor,
      stored,
      fetchCopy: copies?.client.fetch,
      hasSnapshotCache:
        options.demo === undefined && options.createPool === undefined,
    },
    options,
    stops,
  );
  return { inventory, copies };
}

/** Events of pools between servers. */
function startRelays(
  { store, cluster, parser, inventory }: BetweenServersParts,
  { loggers, clock }: ServerOptions & { readonly clock: WallClock },
  stops: StopStack,
): EventRelays {
  const relays = createEventRelays({
    store,
    cluster,
    decoder: parser.decoder,
    mirror: toComparedMirror(inventory),
    clock,
    logger: loggers.named("xo:events"),
  });
  stops.push("events of other servers", relays.stop);
  return relays;
}

function toComparedMirror(inventory: Core["inventory"]): ComparedMirror {
  return {
    digestsOf: (poolId) =>
      Object.fromEntries(
        Array.from(inventory.counts(poolId).keys(), (name) => [
          name,
          inventory.digest(poolId, name),
        ]),
      ),
    verify: async (poolId, classes) => {
      const { differences } = await inventory.verify(poolId, { classes });
      return differences.length;
    },
  };
}

interface BetweenServersParts extends Pick<
  Core,
  "store" | "cluster" | "parser" | "inventory"
> {
  readonly xapiOf: Pools["xapi"];
}

/** What a server does for another one that cannot reach a pool, or the database. */
function startBetweenServers(
  parts: BetweenServersParts,
  options: ServerOptions & { readonly clock: WallClock },
  stops: StopStack,
): Pick<Core, "relays" | "tunnels" | "isolation" | "probes"> {
  const { loggers, clock } = options;
  const logger = loggers.named("xo:tunnels");
  const { decoder } = parts.parser;
  const probes = createProbes({ ...parts, decoder, clock, logger });
  if (!parts.cluster.isShared)
    return {
      relays: undefined,
      tunnels: undefined,
      isolation: undefined,
      probes,
    };
  const isolation = createIsolation({
    ...parts,
    clock,
    logger: loggers.named("xo:cluster"),
  });
  void isolation.watch.run();
  stops.push("checks of the database", () => isolation.watch.stop());
  const tunnels = createTunnels({ ...parts, clock, logger });
  stops.push("tunnels of other processes", () => tunnels.client.stop());
  return {
    relays: startRelays(parts, options, stops),
    tunnels,
    isolation,
    probes,
  };
}

/** Dates use the clock of the store, so that all servers of a database agree. */
function toServerClock({ engine, clock }: Store): WallClock {
  return engine === "postgres"
    ? { ...wallClock, now: () => clock.now() }
    : wallClock;
}
