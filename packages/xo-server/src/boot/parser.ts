import {
  createParserPool,
  type HistogramSnapshot,
  type ParserPool,
  type PriorityStats,
} from "@xo-server/parser-pool";
import type { Decoder } from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { DelayBucket } from "../status/recent-delays.js";

/** Figures of the parser pool; tasks are all since the start. */
export interface ParserFigures {
  readonly threads: number;
  readonly queued: number;
  readonly tasks: number;
  readonly waitP99Ms: number;
  readonly runP99Ms: number;
}

/** What reads the pools' answers, and how it is doing. */
export interface Parser {
  /** The introduction: parser-pool knows formats, xen-api asks for a decoder, neither knows the other. */
  readonly decoder: Decoder;
  /** Reads what hosts measure. */
  readonly xports: Pick<ParserPool, "readXport" | "readRrd">;
  readFigures(): ParserFigures;
  /** How long tasks have waited and run since the start: a histogram that only grows. */
  readonly readWaits: () => readonly DelayBucket[];
  readonly readRuns: () => readonly DelayBucket[];
}

export function createParser(
  { maxThreads, ...config }: Config["parserPool"],
  logger: Logger,
): Parser {
  const pool: ParserPool = createParserPool({
    ...config,
    // 0 leaves the number to the pool, which counts the processors.
    ...(maxThreads === 0 ? {} : { maxThreads }),
    logger,
  });
  return {
    decoder: pool,
    xports: pool,
    readFigures: () => toFigures(pool),
    readWaits: () => toBuckets(ofAll(pool).map(({ waitMs }) => waitMs)),
    readRuns: () => toBuckets(ofAll(pool).map(({ runMs }) => runMs)),
  };
}

function ofAll(pool: ParserPool): PriorityStats[] {
  return Object.values(pool.stats().priorities);
}

/** Of several histograms with the same buckets, the sum. */
function toBuckets(histograms: readonly HistogramSnapshot[]): DelayBucket[] {
  return histograms[0]!.bucketsMs.map((upTo, bucket) => ({
    upTo,
    count: histograms.reduce((sum, { counts }) => sum + counts[bucket]!, 0),
  }));
}

function toFigures(pool: ParserPool): ParserFigures {
  const { threads, priorities, ...stats } = pool.stats();
  const all: PriorityStats[] = Object.values(priorities);
  return {
    threads,
    queued: all.reduce((sum, { queued }) => sum + queued, 0),
    tasks: stats.tasksInPlace + stats.tasksByWorkers,
    waitP99Ms: p99(all.map(({ waitMs }) => waitMs)),
    runP99Ms: p99(all.map(({ runMs }) => runMs)),
  };
}

/** Of several histograms with the same buckets: the upper edge of the bucket that holds it, in ms. */
function p99(histograms: readonly HistogramSnapshot[]): number {
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
