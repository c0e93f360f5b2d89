import { getHeapStatistics } from "node:v8";
import {
  readMemoryUsage,
  type Histogram,
  type LoopMonitor,
} from "@xo-server/perf";
import type { ParserFigures } from "../parser/parser.js";
import { byLabel, counter, gauge, type Metric } from "./exposition.js";

interface ProcessFigures {
  readonly version: string;
  readonly monitor: LoopMonitor;
  readonly parser: ParserFigures;
  /** Connected WebSocket clients. */
  readonly clients: number;
  /** Signed-in connections, consoles included. */
  readonly sessions: number;
  /** Clients that get the changes of all objects. */
  readonly subscribers: number;
}

/** Upper edges of the buckets of delays, in milliseconds. */
const DELAY_EDGES_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** CPU, memory, event loop and parser threads of the process. */
export function toProcessMetrics(figures: ProcessFigures): Metric[] {
  return [
    toBuildInfo(figures.version),
    ...toCpuMetrics(),
    ...toMemoryMetrics(),
    ...toLoopMetrics(figures.monitor),
    ...toParserMetrics(figures.parser),
    gauge("xo_api_clients", "Connected WebSocket clients.", figures.clients),
    gauge(
      "xo_api_sessions",
      "Signed-in WebSocket connections, consoles included.",
      figures.sessions,
    ),
    gauge(
      "xo_api_subscribers",
      "Clients that are sent the changes of all objects.",
      figures.subscribers,
    ),
  ];
}

function toBuildInfo(version: string): Metric {
  return {
    name: "xo_build_info",
    help: "Always 1; versions are in the labels.",
    kind: "gauge",
    samples: [{ value: 1, labels: { version, node: process.version } }],
  };
}

function toCpuMetrics(): Metric[] {
  const { user, system } = process.cpuUsage();
  const { active, idle } = performance.eventLoopUtilization();
  return [
    byLabel(
      {
        name: "xo_process_cpu_seconds_total",
        help: "CPU time of all threads.",
        kind: "counter",
      },
      "mode",
      { user: user / 1e6, system: system / 1e6 },
    ),
    byLabel(
      {
        name: "xo_event_loop_seconds_total",
        help: "Time that the event loop was active or idle.",
        kind: "counter",
      },
      "state",
      { active: active / 1000, idle: idle / 1000 },
    ),
    gauge(
      "xo_process_start_time_seconds",
      "Start of the process, in seconds since the epoch.",
      performance.timeOrigin / 1000,
    ),
  ];
}

function toMemoryMetrics(): Metric[] {
  const usage = readMemoryUsage();
  if (usage === undefined) return [];
  const { rss, heapUsed, heapTotal, external, arrayBuffers } = usage;
  const memory = (what: string, help: string, bytes: number) =>
    gauge(`xo_process_${what}_bytes`, help, bytes);
  return [
    memory("resident_memory", "Resident set size.", rss),
    memory("heap_used", "Used JavaScript heap.", heapUsed),
    memory("heap_total", "Allocated JavaScript heap.", heapTotal),
    memory(
      "heap_limit",
      "Maximum size of the JavaScript heap.",
      getHeapStatistics().heap_size_limit,
    ),
    memory("external", "Memory of objects outside of the heap.", external),
    memory(
      "array_buffers",
      "Part of the external memory in ArrayBuffers.",
      arrayBuffers,
    ),
  ];
}

function toLoopMetrics({ histogram, blocks }: LoopMonitor): Metric[] {
  return [
    toHistogram(
      "xo_event_loop_delay_seconds",
      "Delay of a timer of the event loop.",
      histogram,
    ),
    counter(
      "xo_event_loop_blocks_total",
      "Blocks of the event loop above perf.thresholdMs.",
      blocks.count,
    ),
    counter(
      "xo_event_loop_blocked_seconds_total",
      "Total time of these blocks.",
      blocks.sum / 1000,
    ),
    gauge(
      "xo_event_loop_longest_block_seconds",
      "Longest of these blocks.",
      blocks.max / 1000,
    ),
  ];
}

/** Converts a histogram of ms to seconds. */
function toHistogram(name: string, help: string, of: Histogram): Metric {
  const buckets = DELAY_EDGES_MS.map((edge) => ({
    suffix: "_bucket",
    labels: { le: String(edge / 1000) },
    value: of.count - of.countOver(edge),
  }));
  const samples = [
    ...buckets,
    { suffix: "_bucket", labels: { le: "+Inf" }, value: of.count },
    { suffix: "_sum", value: of.sum / 1000 },
    { suffix: "_count", value: of.count },
  ];
  return { name, help, kind: "histogram", samples };
}

function toParserMetrics(parser: ParserFigures): Metric[] {
  return [
    gauge(
      "xo_parser_webassembly",
      "1 if records are split by WebAssembly, 0 if by JavaScript.",
      parser.usesWebAssembly ? 1 : 0,
    ),
    gauge("xo_parser_threads", "Parser threads.", parser.threads),
    gauge("xo_parser_queued", "Buffers that wait for a thread.", parser.queued),
    counter("xo_parser_tasks_total", "Parsed buffers.", parser.tasks),
    gauge(
      "xo_parser_wait_p99_seconds",
      "99th percentile of the wait for a thread since the start.",
      parser.waitP99Ms / 1000,
    ),
    gauge(
      "xo_parser_run_p99_seconds",
      "99th percentile of the time to parse a buffer since the start.",
      parser.runP99Ms / 1000,
    ),
  ];
}
