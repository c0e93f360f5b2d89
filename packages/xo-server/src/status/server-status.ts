import type { WallClock } from "@xo-server/kit";
import { readMemoryUsage, type LoopMonitor } from "@xo-server/perf";
import { CounterRate } from "./counter-rate.js";
import type { ParserFigures } from "../parser/parser.js";
import { RecentDelays } from "./recent-delays.js";
import type { ServerStatus } from "./status.js";

export interface ServerStatusOptions {
  readonly version: string;
  readonly demo: boolean;
  readonly monitor: LoopMonitor;
  readonly readParser: () => ParserFigures;
  /** WebSocket clients. */
  readonly clients: { readonly size: number };
  readonly clock: WallClock;
}

interface ServerStatusSource {
  read(): ServerStatus;
  stop(): void;
}

const SECOND_MS = 1000;
/** Blocks above this are counted, independently of the log's threshold. */
const BLOCK_MS = 50;

/** Starts the measurements of each second; `stop` ends them. */
export function createServerStatus(
  options: ServerStatusOptions,
): ServerStatusSource {
  const { monitor, clock } = options;
  const startedAt = clock.now();
  const delays = new RecentDelays(() => monitor.histogram.buckets());
  const tasks = new CounterRate(() => options.readParser().tasks);
  let utilization = 0;
  let memory = readMemoryUsage();
  let timer = clock.setTimeout(tick, SECOND_MS);

  function tick(): void {
    delays.tick();
    tasks.tick();
    // Utilization since the previous call: there must be one caller only.
    utilization = monitor.utilization();
    memory = readMemoryUsage() ?? memory;
    timer = clock.setTimeout(tick, SECOND_MS);
  }

  return {
    read() {
      return {
        version: options.version,
        startedAt: new Date(startedAt).toISOString(),
        uptimeS: Math.floor((clock.now() - startedAt) / SECOND_MS),
        node: process.version,
        demo: options.demo,
        eventLoop: {
          ...delays.figures(),
          utilization: Math.round(utilization * 1000) / 1000,
          blocksOver50Ms: monitor.blocks.countOver(BLOCK_MS),
          longestBlockMs: Math.round(monitor.blocks.max),
        },
        parserPool: toParserStatus(options.readParser(), tasks.perSecond()),
        memory: {
          rssBytes: memory?.rss ?? 0,
          heapUsedBytes: memory?.heapUsed ?? 0,
          externalBytes: memory?.external ?? 0,
        },
        clients: options.clients.size,
      };
    },
    stop() {
      clock.clearTimeout(timer);
    },
  };
}

function toParserStatus(
  { threads, queued, waitP99Ms, runP99Ms }: ParserFigures,
  tasksPerSecond: number,
): ServerStatus["parserPool"] {
  return { threads, queued, tasksPerSecond, waitP99Ms, runP99Ms };
}
