import {
  createParserPool,
  type DurationHistogramSnapshot,
  type ParserPool,
  type PriorityStats,
} from "@xo-server/parser-pool";
import type { Decoder } from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";

/** Number of delays of at most `upTo` ms that are longer than those of the previous bucket. */
interface DelayBucket {
  readonly upTo: number;
  readonly count: number;
}

/** Metrics of the parser pool; `tasks` counts all since the start. */
export interface ParserFigures {
  /** Whether records are split by WebAssembly: several times faster than JavaScript. */
  readonly usesWebAssembly: boolean;
  readonly threads: number;
  readonly queued: number;
  readonly tasks: number;
  readonly waitP99Ms: number;
  readonly runP99Ms: number;
}

/** The decoder of the pools' responses, and its metrics. */
export interface Parser {
  /** The decoder of parser-pool, passed to xen-api: neither package imports the other. */
  readonly decoder: Decoder;
  /** Decodes RRDs and RRD updates of hosts. */
  readonly xports: Pick<ParserPool, "readXport" | "readRrd">;
  /** Starts the threads in advance, before the first response arrives. */
  warmUp(): Promise<void>;
  readFigures(): ParserFigures;
  /** Times that tasks have waited and run since the start: cumulative histograms. */
  readonly readWaits: () => readonly DelayBucket[];
  readonly readRuns: () => readonly DelayBucket[];
}

/** The parser of responses of pools, with the settings of `parserPool`. */
export function createParser(
  { maxThreads, ...config }: Config["parserPool"],
  logger: Logger,
): Parser {
  const pool: ParserPool = createParserPool({
    ...config,
    startsOnDemand: true,
    // 0: parser-pool derives the number from that of the processors.
    ...(maxThreads === 0 ? {} : { maxThreads }),
    logger,
  });
  return {
    decoder: pool,
    xports: pool,
    warmUp: () => pool.warmUp(),
    readFigures: () => toFigures(pool),
    readWaits: () => toBuckets(ofAll(pool).map(({ waitMs }) => waitMs)),
    readRuns: () => toBuckets(ofAll(pool).map(({ runMs }) => runMs)),
  };
}

function ofAll(pool: ParserPool): PriorityStats[] {
  return Object.values(pool.stats().priorities);
}

/** The sum of several histograms with the same buckets. */
function toBuckets(
  histograms: readonly DurationHistogramSnapshot[],
): DelayBucket[] {
  return histograms[0]!.bucketsMs.map((upTo, bucket) => ({
    upTo,
    count: histograms.reduce((sum, { counts }) => sum + counts[bucket]!, 0),
  }));
}

function toFigures(pool: ParserPool): ParserFigures {
  const { threads, priorities, ...stats } = pool.stats();
  const all: PriorityStats[] = Object.values(priorities);
  return {
    usesWebAssembly: stats.usesWebAssembly,
    threads,
    queued: all.reduce((sum, { queued }) => sum + queued, 0),
    tasks: stats.tasksInPlace + stats.tasksByWorkers,
    waitP99Ms: p99(all.map(({ waitMs }) => waitMs)),
    runP99Ms: p99(all.map(({ runMs }) => runMs)),
  };
}

/** 99th percentile of several histograms with the same buckets: the upper bound of its bucket, in ms. */
function p99(histograms: readonly DurationHistogramSnapshot[]): number {
  const total = histograms.reduce((sum, { count }) => sum + count, 0);
  const maxMs = Math.max(...histograms.map((one) => one.maxMs));
  const edges = histograms[0]!.bucketsMs;
  let seen = 0;
  for (const [bucket, edge] of edges.entries()) {
    for (const { counts } of histograms) seen += counts[bucket]!;
    if (total > 0 && seen >= total * 0.99) return Math.min(edge, round(maxMs));
  }
  return round(maxMs);
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
