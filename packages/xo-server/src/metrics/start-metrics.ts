import type { Activity } from "../activity/activity.js";
import type { Inventory } from "@xo-server/inventory";
import type { LoopMonitor } from "@xo-server/perf";
import type { Store } from "@xo-server/store";
import type { EventRelays } from "../event-relay/event-relays.js";
import type { Consoles } from "../consoles/consoles.js";
import type { LimitHits } from "../limits/limit-hits.js";
import type { Objects } from "../objects/start-objects.js";
import type { Parser } from "../parser/parser.js";
import type { PoolCopies } from "../pool-copies/pool-copies.js";
import type { Tunnels } from "../tunnels/tunnels.js";
import { toTunnelMetrics } from "./tunnel-metrics.js";
import type { Pools } from "../pools/pools.js";
import type { Stats } from "../stats/start-stats.js";
import { version } from "../config/version.js";
import type { ReadForwarding } from "../audit-forwarding/start-audit-forwarding.js";
import { toActivityMetrics } from "./activity-metrics.js";
import { toAuditMetrics } from "./audit-metrics.js";
import { toCatalogMetrics, toQueryMetrics } from "./catalog-metrics.js";
import { toCopyMetrics } from "./copy-metrics.js";
import { toEventRelayMetrics } from "./event-relay-metrics.js";
import { toConsoleMetrics } from "./console-metrics.js";
import { toApiMetrics } from "./api-metrics.js";
import { toExposition } from "./exposition.js";
import { toInventoryMetrics } from "./inventory-metrics.js";
import { toProcessMetrics } from "./process-metrics.js";
import { toStatsMetrics } from "./stats-metrics.js";
import { toStoreMetrics } from "./store-metrics.js";
import { toTelemetryMetrics } from "./telemetry-metrics.js";
import type { Telemetry } from "../telemetry/start-telemetry.js";

interface MetricsOptions {
  readonly monitor: LoopMonitor;
  readonly parser: Parser;
  readonly store: Store;
  readonly inventory: Inventory;
  readonly objects: Objects;
  readonly pools: Pools;
  readonly stats: Pick<Stats, "figures">;
  readonly clients: { readonly size: number };
  readonly sessions: { readonly size: number };
  /** Clients that get the changes of all objects. */
  readonly notices: { readonly size: number };
  readonly activity: Pick<Activity, "journal">;
  readonly consoles: Pick<Consoles, "figures">;
  readonly readForwarding: ReadForwarding;
  /** Undefined: there are no other servers. */
  readonly copies: PoolCopies | undefined;
  /** Undefined: there are no other servers. */
  readonly relays: EventRelays | undefined;
  /** Undefined: there are no other servers. */
  readonly tunnels: Tunnels | undefined;
  /** Undefined: no traces. */
  readonly telemetry: Telemetry | undefined;
  /** Counts of exceeded limits. */
  readonly hits: LimitHits;
  /** Undefined: plain HTTP. */
  readonly tls: { readonly expiresAt: number } | undefined;
}

/** @returns a function that encodes the current metrics in the Prometheus text format */
export function startMetrics(options: MetricsOptions): () => string {
  const { monitor, parser, store, inventory, objects, pools, clients } =
    options;
  const { hits, tls, consoles, stats } = options;
  return () =>
    toExposition([
      ...toProcessMetrics({
        version,
        monitor,
        parser: parser.readFigures(),
        clients: clients.size,
        sessions: options.sessions.size,
        subscribers: options.notices.size,
      }),
      ...toApiMetrics(hits, tls),
      ...toConsoleMetrics(consoles.figures),
      ...toStoreMetrics(store),
      ...toInventoryMetrics(
        inventory,
        pools.listSummaries().map(({ state }) => state),
      ),
      ...toCopyMetrics(options.copies),
      ...toEventRelayMetrics(options.relays),
      ...toTunnelMetrics(options.tunnels),
      ...toCatalogMetrics(objects.catalog.stats),
      ...toQueryMetrics(objects.queries.stats),
      ...toStatsMetrics(stats.figures()),
      ...toAuditMetrics(options.readForwarding()),
      ...toActivityMetrics(options.activity.journal),
      ...toTelemetryMetrics(options.telemetry?.readFigures()),
    ]);
}
