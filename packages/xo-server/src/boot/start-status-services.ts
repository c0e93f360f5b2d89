import type { Catalog, Predicate } from "@xo-server/inventory";
import type { Client } from "../auth/sessions/client.js";
import { CpuProfiler } from "../diagnostics/cpu-profiler.js";
import { HeapSnapshots } from "../diagnostics/heap-snapshots.js";
import type { Services } from "../methods/definition/services.js";
import { readableTo } from "../objects/readable.js";
import { createAudiences } from "./status-audience.js";
import { startPerformance } from "../status/performance.js";
import { startStatus, startStatusFeed } from "../status/start-status.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

/** The status of the server and its pools, and diagnostics. */
export function startStatusServices(
  { pools, monitor, clients, clock, parser, views }: Core,
  options: ServerOptions,
  stops: StopStack,
): Pick<
  Services,
  | "readVisibleStatus"
  | "statusFeed"
  | "performance"
  | "cpuProfiler"
  | "heapSnapshots"
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
  const audienceOf = createAudiences({
    demo: options.demo !== undefined,
    readablePools: (reader) => readableTo(reader)("pool"),
    matches: (uuid, isReadable) => matches(uuid, isReadable, views.catalog),
  });
  return {
    readVisibleStatus(reader) {
      const status = readStatus();
      return audienceOf(reader, status).show(status);
    },
    statusFeed: startStatusFeed(
      readStatus,
      (client: Client, status) => audienceOf({ client }, status),
      options,
      stops,
    ),
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
      writeHeap: options.writeHeap,
    }),
  };
}

function matches(uuid: string, test: Predicate, catalog: Catalog): boolean {
  const table = catalog.tables.get("pool");
  if (table !== undefined) {
    const row = table.findId(uuid);
    return row >= 0 && table.passes(row, test);
  }
  const pool = catalog.get(uuid);
  return pool !== undefined && test(JSON.parse(String(pool.json)));
}
