import { apiBench } from "./api/api-bench.js";
import { backupBench } from "./backup/backup-bench.js";
import type { Bench } from "./bench.js";
import { bulkBench } from "./bulk/bulk-bench.js";
import { clusterBench } from "./cluster/cluster-bench.js";
import { consoleBench } from "./console/console-bench.js";
import { eventsBench } from "./events/events-bench.js";
import { exportBench } from "./export/export-bench.js";
import { fleetBench } from "./fleet/fleet-bench.js";
import { inventoryBench } from "./inventory/inventory-bench.js";
import { operationsBench } from "./operations/operations-bench.js";
import { perfProbeBench } from "./perf-probe/perf-probe-bench.js";
import { placementBench } from "./placement/placement-bench.js";
import { poolsBench } from "./pools/pools-bench.js";
import { rollingBench } from "./rolling/rolling-bench.js";
import { socketsBench } from "./sockets/sockets-bench.js";
import { statsBench } from "./stats/stats-bench.js";
import { webBench } from "./web/web-bench.js";
import { wholeBench } from "./whole/whole-bench.js";

/** All benches by the name that they are called by. */
export const benches: ReadonlyMap<string, Bench> = new Map<string, Bench>([
  ["whole", wholeBench],
  ["pools", poolsBench],
  ["events", eventsBench],
  ["inventory", inventoryBench],
  ["fleet", fleetBench],
  ["perf-probe", perfProbeBench],
  ["api", apiBench],
  ["sockets", socketsBench],
  ["console", consoleBench],
  ["stats", statsBench],
  ["export", exportBench],
  ["bulk", bulkBench],
  ["operations", operationsBench],
  ["web", webBench],
  ["placement", placementBench],
  ["rolling", rollingBench],
  ["cluster", clusterBench],
  ["backup", backupBench],
]);
