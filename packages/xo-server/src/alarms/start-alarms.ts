import { wallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Objects } from "../objects/start-objects.js";
import type { StartOptions } from "../config/start-options.js";
import type { PoolSummary } from "../status/status.js";
import { findLostServers } from "../status/cluster-servers.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { AlarmListeners } from "./alarm-listeners.js";
import { Alarms } from "./alarms.js";
import { countProblems } from "../backups/repositories/problem-counts.js";
import { toPageUrl } from "./page-url.js";
import {
  createServerMetrics,
  type UpdateCounts,
  type ReadBackupFigure,
} from "./server-metrics.js";

/** Alarms and the clients subscribed to them. */
interface StartedAlarms {
  readonly alarms: Alarms;
  readonly listeners: AlarmListeners;
}

interface AlarmSources {
  readonly store: Store;
  readonly cluster: Pick<Cluster, "leases" | "isShared" | "self" | "running">;
  readonly objects: Objects;
  readonly listPools: () => readonly PoolSummary[];
  /** In ms since the epoch; undefined: no TLS. */
  readonly certificateEndsAt: () => number | undefined;
  readonly updates: UpdateCounts;
  readonly readBackupFigure: ReadBackupFigure;
}

/** An alarm that another server raised is sent within this time, in ms. */
const SHARED_POLL_MS = 5_000;

/** Rules are evaluated after `alarms.start()`. */
export function startAlarms(
  {
    store,
    cluster,
    objects,
    listPools,
    certificateEndsAt,
    updates,
    readBackupFigure,
  }: AlarmSources,
  options: Pick<StartOptions, "config" | "loggers" | "clock">,
  stops: StopStack,
): StartedAlarms {
  const { config, loggers, clock = wallClock } = options;
  const { queries, catalog } = objects;
  const { leases, isShared, self, running } = cluster;
  const alarms = new Alarms({
    store,
    sending: { leases, ...(isShared ? { pollMs: SHARED_POLL_MS } : {}) },
    queries,
    catalog,
    listPools,
    clock,
    mail: config.mail,
    readServerMetric: createServerMetrics({
      dataDir: config.dataDir,
      certificateEndsAt,
      updates,
      readBackupFigure,
      repositories: countProblems(store),
      findLostServers: () => findLostServers(store),
      clock,
    }),
    ...(isShared ? { servers: { self: self.owner, running } } : {}),
    pageUrl: () => toPageUrl(config),
    logger: loggers.named("xo:alarms"),
  });
  const listeners = new AlarmListeners(clock);
  alarms.onChange(() => {
    listeners.notify();
  });
  stops.push("alarms", async () => {
    listeners.stop();
    await alarms.stop();
  });
  return { alarms, listeners };
}
