import { wallClock } from "@xo-server/kit";
import { machineMemory, type Inventory } from "@xo-server/inventory";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Objects } from "../objects/start-objects.js";
import type { Parser } from "../parser/parser.js";
import type { Pools } from "../pools/pools.js";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { AnswerMemory, MAX_BYTES } from "./answer-memory.js";
import { Follower } from "./follower.js";
import { HostStats } from "./host-stats.js";
import { LiveHosts } from "./live-hosts.js";
import { NowValues } from "./now-values.js";
import { ObjectStats } from "./object-stats.js";
import { StatsInterval } from "./stats-interval.js";
import { statsMemory } from "./stats-memory.js";
import type { StatsFigures } from "./stats-figures.js";

/** Metrics of hosts: followed, or fetched on request. */
export interface Stats {
  readonly hosts: HostStats;
  readonly objects: ObjectStats;
  /** For all that fetch metrics. */
  readonly memory: AnswerMemory;
  figures(): StatsFigures;
}

interface StatsSources {
  readonly inventory: Inventory;
  readonly objects: Pick<Objects, "catalog" | "queries">;
  readonly poolObjects: PoolObjects;
  readonly pools: Pools;
}

/** Number of missed rounds after which a reader triggers a request. */
const MISSED = 3;
/** Interval at which hosts measure. */
const MEASURED_MS = 5_000;

/** Starts the polling of hosts (`follow`), or only prepares readers of it. */
export function startStats(
  { xports }: Pick<Parser, "xports">,
  { inventory, objects, poolObjects, pools }: StatsSources,
  { config, loggers, clock = wallClock }: StartOptions,
  stops: StopStack,
): Stats {
  const { follow, intervalMs, idleIntervalMs, memoryBytes } = config.stats;
  const { queries, catalog } = objects;
  const now = new NowValues(() => ({
    VM: queries.metrics("VM"),
    host: queries.metrics("host"),
  }));
  const pace = new StatsInterval({
    clock,
    intervalMs,
    idleIntervalMs,
    takeUse: () => queries.takeMetricsUse(),
  });
  const memory = new AnswerMemory(
    Math.min(MAX_BYTES, statsMemory(machineMemory())),
  );
  const hosts = new HostStats({
    inventory,
    parser: xports,
    clock,
    memory,
    limitBytes: memoryBytes || statsMemory(machineMemory()),
    // Readers trigger requests of their own when hosts are polled rarely.
    freshMs: () =>
      follow && pace.intervalMs === intervalMs
        ? MISSED * intervalMs
        : Math.min(intervalMs, MEASURED_MS),
    onRow: (followed) => {
      if (follow) now.update(followed);
    },
  });
  const live = new LiveHosts(catalog, pools);
  const follower = new Follower({
    hosts,
    now,
    inventory,
    pace,
    clock,
    ...(follow ? { live: () => live.list() } : {}),
    logger: loggers.named("xo:stats"),
  });
  follower.start();
  stops.push("statistics", () => follower.stop());
  const { limitBytes } = hosts.seriesStore.share;
  return {
    hosts,
    memory,
    objects: new ObjectStats({ objects: poolObjects, hosts, inventory }),
    figures: () => ({
      ...follower.figures,
      objects: hosts.seriesStore.objects,
      bytes: hosts.bytes,
      limitBytes,
      rows: hosts.seriesStore.share.rows,
    }),
  };
}
