import { CpuProfiler } from "../diagnostics/cpu-profiler.js";
import { HeapSnapshots } from "../diagnostics/heap-snapshots.js";
import type { Services } from "../methods/services.js";
import { startPerformance } from "../status/performance.js";
import { startStatus, startStatusFeed } from "../status/start-status.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

/** The status of the server and its pools, and what diagnoses it. */
export function startStatusServices(
  { pools, monitor, clients, clock, parser }: Core,
  options: ServerOptions,
  stops: StopStack,
): Pick<
  Services,
  "readStatus" | "statusFeed" | "performance" | "cpuProfiler" | "heapSnapshots"
> {
  const readStatus = startStatus({
    ...options,
    pools,
    monitor,
    clients,
    clock,
    stops,
    readParser: () => parser.readFigures(),
  });
  return {
    readStatus,
    statusFeed: startStatusFeed(readStatus, options, stops),
    performance: startPerformance({
      monitor,
      parser,
      readStatus,
      clock,
      stops,
    }),
    cpuProfiler: new CpuProfiler(clock),
    heapSnapshots: new HeapSnapshots({
      dataDir: options.config.dataDir,
      clock,
      logger: options.loggers.named("xo:main"),
    }),
  };
}
