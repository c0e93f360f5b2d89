import type { WallClock } from "@xo-server/kit";
import type { LoopMonitor } from "@xo-server/perf";
import type { Parser } from "../parser/parser.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { PerformanceRing, type PerformanceSample } from "./performance-ring.js";
import { RecentDelays, type DelayFigures } from "./recent-delays.js";
import type { Status } from "./status.js";

interface PerformanceOptions {
  readonly monitor: LoopMonitor;
  readonly parser: Pick<Parser, "readFigures" | "readWaits" | "readRuns">;
  readonly readStatus: () => Status;
  readonly clock: WallClock;
  readonly stops: StopStack;
}

/** One hour of samples at 10 s. */
export const INTERVAL_MS = 10_000;
const SAMPLES = 360;
/** The same threshold as in the status. */
const BLOCK_MS = 50;

/**
 * Records the server's performance of the last hour for charts. Each sample
 * covers its own 10 s.
 */
export function startPerformance(options: PerformanceOptions): PerformanceRing {
  const { clock, stops } = options;
  const ring = new PerformanceRing(SAMPLES);
  const take = createSampler(options);
  let timer = clock.setTimeout(tick, INTERVAL_MS);

  function tick(): void {
    ring.push(clock.now(), take());
    timer = clock.setTimeout(tick, INTERVAL_MS);
  }

  stops.push("performance", () => {
    clock.clearTimeout(timer);
  });
  return ring;
}

/** @returns values since the previous call */
function createSampler({
  monitor,
  parser,
  readStatus,
}: PerformanceOptions): () => PerformanceSample {
  const loop = sinceLast(() => monitor.histogram.buckets());
  const waits = sinceLast(parser.readWaits);
  const runs = sinceLast(parser.readRuns);
  const blocks = growth(() => monitor.blocks.countOver(BLOCK_MS));
  const tasks = growth(() => parser.readFigures().tasks);
  const cpu = growth(() => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  });
  const busy = growth(() => performance.eventLoopUtilization().active);
  const wall = growth(() => performance.now());
  return () => {
    const ms = wall();
    const { server, totals } = readStatus();
    const { p50Ms, p99Ms, maxMs } = loop();
    return {
      loopP50Ms: p50Ms,
      loopP99Ms: p99Ms,
      loopMaxMs: maxMs,
      utilization: round(Math.min(1, busy() / ms), 3),
      blocks: blocks(),
      cpu: round(cpu() / ms, 3),
      parserQueued: server.parserPool.queued,
      parserTasks: round((tasks() / ms) * 1000, 1),
      parserWaitP99Ms: waits().p99Ms,
      parserRunP99Ms: runs().p99Ms,
      ...server.memory,
      clients: server.clients,
      changes: totals.changesPerSecond,
    };
  };
}

function growth(read: () => number): () => number {
  let before = read();
  return () => {
    const now = read();
    const grown = now - before;
    before = now;
    return grown;
  };
}

function sinceLast(
  read: ConstructorParameters<typeof RecentDelays>[0],
): () => DelayFigures {
  const delays = new RecentDelays(read, 1);
  delays.tick();
  return () => {
    const figures = delays.figures();
    delays.tick();
    return figures;
  };
}

function round(value: number, digits: number): number {
  const scale = 10 ** digits;
  return Math.round(value * scale) / scale;
}
