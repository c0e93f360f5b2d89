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
    "# The inventory: questions, live queries, feed, caches, restart, memory",
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
    ...part(
      "Reading everything a second time",
      section("second-read"),
      (lines) => figureTable("Bound of the cache", lines, SECOND_READ),
    ),
    ...part("Restart, the pool out of reach", section("restart"), (lines) =>
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
      "Questions",
      lines.filter((line) => line.pool === pool),
      (own) => figureTable("Question", own, QUERIES),
    ),
  );
}

const BLOCKS: readonly Figure[] = [
  shown("longest block ms", "longestBlockMs", formatMs),
  shown("of it own ms", "longestOwnBlockMs", formatMs),
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
      title: "over no reader",
      text: (figure) => formatMs(figure("cpuMsPerChange") - without),
    },
    shown("updates", "updates", formatCount),
    shown("bytes an update", "bytesPerUpdate", formatCount),
    shown("p50 ms", "latencyMs", formatMs),
    shown("p99 ms", "latencyP99Ms", formatMs),
    shown("kept answers", "results", formatCount),
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
  shown("the write alone, us", "plainCpuUsPerReader", formatMs),
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
      title: "against the JSON",
      text: (figure) => formatRatio(figure("retainedBytes") / json),
    },
    shown("B an object", "retainedBytesPerObject", formatCount),
    shown("of it heap, B", "retainedHeapBytesPerObject", formatCount),
    shown("RSS at rest MB", "settledRssBytes", formatMegabytes),
  ];
}

const HOW_TO_READ = [
  "* Each run is a fresh process; rows take turns, every second round backwards; figures are medians of `n` runs.",
  "* **Questions** go to a catalog in the measured process, each wording once, so that no answer is known; `ms` is the median of a kind's wordings, `slowest ms` the worst. Objects are those of the simulator's fleets, 1,000 VMs a pool, with the classes that views of VMs read.",
  '* **Blocks** are gaps of a 1 ms timer on the main thread; "of it own" takes away what the thread waited for a core.',
  "* **Live queries**: 20 VMs change at a time, ten times a second, every tenth of them halts; a window is 50 rows. Latency is from the event's arrival to the reader, the feed's window of 50 ms included.",
  '* **Sent to many readers**: CPU of a change with readers, less that without, by reader; "the write alone" is the same bytes written to the same sockets with nothing around it. The other ends are in another process.',
  "* **A pool that changes** is a simulated pool in a process of its own. Shares of digests and patches are those of samples of a CPU profile in which their files are on the stack, idle time taken off.",
  "* **A second time**: the bound is a part of what an unbounded cache holds after all was read once.",
  "* **Restart**: from the start of the process, the pool does not answer: until the program is loaded (the server: until it listens), all objects are in the inventory, all views are made. `inventory` is a program without anything else, `xo-server` the real one, asked over HTTP.",
  "* **Memory** is heap and buffers of the main thread after a full collection, over what was there before; `npm xen-api` in the same round.",
].join("\n");
