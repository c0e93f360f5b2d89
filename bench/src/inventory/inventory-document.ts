import {
  formatCount,
  formatMegabytes,
  formatMs,
  formatRatio,
} from "../harness/format.js";
import { markdownDocument } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { targetTable } from "../harness/target.js";
import { checkTargets } from "./inventory-targets.js";
import { figureTable, shown, type Figure } from "./line.js";
import type { Section } from "./row.js";

/** `docs/benchmarks/inventory.md`, from the results alone. */
export function inventoryDocument(report: Report): string {
  const { results } = report;
  const section = (name: Section): Result[] =>
    results.filter(({ place }) => place === name);
  return markdownDocument([
    "# The inventory: queries, live queries, change feed, caches, restart, memory",
    "Written by `npm run bench -- inventory`; do not edit.",
    measuredOn(report),
    "## Targets",
    targetTable(checkTargets(results)),
    ...queriesSections(section("queries")),
    ...part("Live queries", section("live"), (lines) =>
      figureTable("Readers", lines, liveFigures(lines)),
    ),
    ...part(
      "One change of a VM, sent to many readers",
      section("fan-out"),
      (lines) => figureTable("Readers", lines, FAN_OUT),
    ),
    ...part(
      "A pool that changes, over the network",
      section("churn"),
      (lines) => figureTable("Kept", lines, CHURN),
    ),
    ...part("Second read of all objects", section("second-read"), (lines) =>
      figureTable("Bound of the cache", lines, SECOND_READ),
    ),
    ...part("Restart, the pool unreachable", section("restart"), (lines) =>
      figureTable("", lines, RESTART),
    ),
    ...part("Memory", section("memory"), (lines) =>
      figureTable("Kept", lines, memoryFigures(lines)),
    ),
    "## How to read it",
    HOW_TO_READ,
  ]);
}

function part(
  title: string,
  lines: readonly Result[],
  table: (lines: readonly Result[]) => string,
): string[] {
  if (lines.length === 0) return [];
  return [`## ${title}: ${lines[0]!.pool}`, table(lines)];
}

function queriesSections(lines: readonly Result[]): string[] {
  const pools = [...new Set(lines.map(({ pool }) => pool))];
  return pools.flatMap((pool) =>
    part(
      "Queries",
      lines.filter((line) => line.pool === pool),
      (own) => figureTable("Query", own, QUERIES),
    ),
  );
}

const BLOCKS: readonly Figure[] = [
  shown("longest block ms", "longestBlockMs", formatMs),
  shown("without waits for a core ms", "longestOwnBlockMs", formatMs),
];

const QUERIES: readonly Figure[] = [
  shown("ms", "ms", formatMs),
  shown("slowest ms", "worstMs", formatMs),
  shown("CPU ms", "cpuMs", formatMs),
  ...BLOCKS,
];

function liveFigures(lines: readonly Result[]): Figure[] {
  const without = figureOf(
    lines.find(({ mode }) => mode === "no reader"),
    "cpuMsPerChange",
  );
  return [
    shown("CPU ms a change", "cpuMsPerChange", formatMs),
    {
      title: "added by readers",
      text: (figure) => formatMs(figure("cpuMsPerChange") - without),
    },
    shown("updates", "updates", formatCount),
    shown("bytes an update", "bytesPerUpdate", formatCount),
    shown("p50 ms", "latencyMs", formatMs),
    shown("p99 ms", "latencyP99Ms", formatMs),
    shown("cached results", "results", formatCount),
    shown("opening all, ms", "openMs", formatMs),
    ...BLOCKS,
  ];
}

const FAN_OUT: readonly Figure[] = [
  shown("encodings a change", "encodingsPerChange", (value) =>
    value.toFixed(2),
  ),
  shown("messages a change", "messagesPerChange", formatCount),
  shown("bytes a message", "bytesPerMessage", formatCount),
  shown("CPU us a reader", "cpuUsPerReader", formatMs),
  shown("plain write, us", "plainCpuUsPerReader", formatMs),
  ...BLOCKS,
];

const percent = (value: number): string =>
  Number.isFinite(value) ? value.toFixed(1) : "-";

const CHURN: readonly Figure[] = [
  shown("% of a core", "cpuPercent", percent),
  shown("changes/s", "changesPerSecond", formatCount),
  shown("views/s", "viewsPerSecond", formatCount),
  shown("bytes/s to a reader", "bytesPerSecondAndReader", formatCount),
  shown("digests, % of CPU", "digestPercent", percent),
  shown("patches, % of CPU", "patchPercent", percent),
];

const SECOND_READ: readonly Figure[] = [
  shown("objects", "objects", formatCount),
  shown("working set MB", "workingSetBytes", formatMegabytes),
  shown("first, CPU us an object", "firstCpuUs", formatMs),
  shown("second, CPU us an object", "secondCpuUs", formatMs),
  shown("% from cache", "hitShare", (share) => percent(share * 100)),
];

const RESTART: readonly Figure[] = [
  shown("objects", "objects", formatCount),
  shown("on disk MB", "diskBytes", formatMegabytes),
  shown("program loaded ms", "programMs", formatMs),
  shown("all objects ms", "allThereMs", formatMs),
  shown("all views ms", "viewsMs", formatMs),
  ...BLOCKS,
];

function memoryFigures(lines: readonly Result[]): Figure[] {
  const json = figureOf(
    lines.find(({ mode }) => mode === "inventory"),
    "bytes",
  );
  return [
    shown("objects", "objects", formatCount),
    shown("retained MB", "retainedBytes", formatMegabytes),
    {
      title: "compared with the JSON",
      text: (figure) => formatRatio(figure("retainedBytes") / json),
    },
    shown("B an object", "retainedBytesPerObject", formatCount),
    shown("of that on the heap, B", "retainedHeapBytesPerObject", formatCount),
    shown("RSS at rest MB", "settledRssBytes", formatMegabytes),
  ];
}

const HOW_TO_READ = [
  "* Each run is a new process; rows are measured in turn, in reverse order every second round; figures are medians of `n` runs.",
  "* **Queries** are answered by a catalog in the measured process. Each variant runs once, so that no result is cached; `ms` is the median of the variants, `slowest ms` the maximum. Objects are those of the simulator's fleets, 1,000 VMs a pool, with the classes that views of VMs read.",
  "* **Blocks** are gaps of a 1 ms timer on the main thread; the next column excludes the time in which the thread waited for a core.",
  "* **Live queries**: 20 VMs change at a time, ten times a second, every tenth of them halts; a window is 50 rows. Latency is from the arrival of the event to the reader, including the window of 50 ms of the feed.",
  '* **Sent to many readers**: CPU of a change with readers, less that without, divided by the readers; "plain write" is the same bytes written to the same sockets without the feed. The clients are in another process.',
  "* **A pool that changes** is a simulated pool in a separate process. Shares of digests and patches are the samples of a CPU profile that have their files on the stack, without idle time.",
  "* **Second read**: the bound is relative to the size of an unbounded cache after one read of all objects.",
  "* **Restart**: times from the start of the process, while the pool does not respond: until the program is loaded (the server: until it listens), until all objects are in the inventory, and until all views are built. `inventory` is a program with the inventory only, `xo-server` the server, measured over HTTP.",
  "* **Memory** is the growth of heap and buffers of the main thread, after full garbage collections; `npm xen-api` in the same round.",
].join("\n");
