import { formatCount, formatMegabytes, formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { targetTable } from "../harness/target.js";
import { checkTargets } from "./fleet-targets.js";

/** One line of a table: name of a figure, its title and its format. */
type Line = readonly [
  name: string,
  title: string,
  format: (value: number) => string,
];

/** `docs/benchmarks/fleet.md`, from the results alone. */
export function fleetDocument(report: Report): string {
  const { results } = report;
  const row = (mode: string) => results.find((one) => one.mode === mode);
  const fleet = results.find(({ mode }) => mode !== "pool")?.pool ?? "";
  return markdownDocument([
    "# A fleet in one process",
    "Written by `npm run bench -- fleet`; do not edit.",
    `${fleet.replace("x", " pools of ")} VMs each, followed by one process with its parser threads; the simulator of the pools is another process on the same machine.`,
    measuredOn(report),
    targetTable(checkTargets(results)),
    ...section("Loading, idle and under changes", LIVE, [
      ["inventory alone", row("mirror")],
      ["with views and live queries", row("views")],
      [
        `pool ${row("pool")?.pool ?? "A"}, 200 changes/s, with views`,
        row("pool"),
      ],
    ]),
    ...section("A simulated day", DAY, [["", row("day")]]),
    ...section("Restart", RESTART, [["", row("restart")]]),
    ...failures(results),
    NOTES,
  ]);
}

function section(
  title: string,
  lines: readonly Line[],
  all: readonly (readonly [title: string, result: Result | undefined])[],
): string[] {
  const measured = all.filter(([, result]) => (result?.runs ?? 0) > 0);
  if (measured.length === 0) return [];
  const rows = lines
    .map(([name, what, format]) => [
      what,
      ...measured.map(([, result]) => {
        const value = figureOf(result, name);
        return Number.isFinite(value) ? format(value) : "";
      }),
    ])
    .filter(([, ...cells]) => cells.some((cell) => cell !== ""));
  return [
    `## ${title}`,
    markdownTable(
      [
        { title: "" },
        ...measured.map(([name]) => ({ title: name, align: "right" as const })),
      ],
      rows,
    ),
  ];
}

function failures(results: readonly Result[]): string[] {
  return results
    .filter(({ failure }) => failure !== undefined)
    .map(({ mode, failure }) => `Not measured: ${mode}: ${failure}.`);
}

const ms = (value: number): string => `${formatMs(value)} ms`;
const megabytes = (value: number): string => `${formatMegabytes(value)} MB`;
const percent = (value: number): string => `${value.toFixed(1)} %`;
const kilobytes = (value: number): string =>
  `${formatCount(value / 1000)} kB/s`;
/** Three digits, because small slopes matter. */
const growth = (value: number): string =>
  `${(value / 1e6).toFixed(3)} MB an hour`;

const LIVE: readonly Line[] = [
  ["objects", "objects", formatCount],
  ["jsonBytes", "JSON of the responses", megabytes],
  ["ms", "all pools watched after", ms],
  ["firstPoolMs", "the first of them after", ms],
  ["loadCpuMs", "CPU of loading", ms],
  ["loadPeakRssBytes", "highest RSS while loading", megabytes],
  ["rssBytes", "RSS when all is loaded", megabytes],
  ["retainedBytes", "retained: growth of the resident size", megabytes],
  ["heapBytes", "JavaScript heap of the main thread", megabytes],
  ["segmentBytes", "segments of records", megabytes],
  ["tableBytes", "tables of the inventory", megabytes],
  ...blockLines("load", "loading"),
  ["viewObjects", "objects with a view", formatCount],
  ["viewsMs", "all views built in", ms],
  ["viewsCpuMs", "CPU of that", ms],
  ["viewsRetainedBytes", "retained by them", megabytes],
  ["viewTableBytes", "tables of the views", megabytes],
  ...blockLines("views", "building views"),
  ["firstQueryMs", "first live query, which builds the index of its class", ms],
  ["slowestQueryMs", "slowest of the ten", ms],
  ["queryBlockLongestOwnMs", "longest own block meanwhile", ms],
  ["restCpuPercent", "CPU when idle", percent],
  ["changesSeenPerSecond", "changes reported a second", formatCount],
  ["wireBytesPerSecond", "bytes of event responses", kilobytes],
  ["churnCpuPercent", "CPU under churn", percent],
  ["simulatorCpuPercent", "CPU of the simulator meanwhile", percent],
  ["p50Ms", "from change to inventory, p50", ms],
  ["p99Ms", "p99", ms],
  ["viewP50Ms", "from change to the feed of views, p50", ms],
  ["viewP99Ms", "p99", ms],
  ["viewsBuiltPerSecond", "views rebuilt a second", formatCount],
  ["viewsUnchangedPerSecond", "of them unchanged", formatCount],
  ["feedBytesPerSecond", "bytes to each reader of that feed", kilobytes],
  ["liveUpdatesPerSecond", "updates of the live queries a second", formatCount],
  ["liveBytesPerSecond", "bytes of them", kilobytes],
  ...blockLines("churn", "churn"),
  ["peakRssBytes", "highest RSS overall", megabytes],
  ["rssAfterBytes", "RSS at the end", megabytes],
];

const DAY: readonly Line[] = [
  ["objects", "objects", formatCount],
  ["hours", "hours", formatCount],
  ["changes", "changes", formatCount],
  ["firstRssBytes", "RSS before", megabytes],
  ["rssBytes", "RSS after", megabytes],
  ["mostRssBytes", "highest of the hourly samples", megabytes],
  ["rssBytesPerHour", "RSS grows by", growth],
  ["heapBytesPerHour", "heap", growth],
  ["externalBytesPerHour", "buffers", growth],
  ["segmentBytesPerHour", "segments of records", growth],
  ["tableBytesPerHour", "tables", growth],
];

const RESTART: readonly Line[] = [
  ["objects", "objects", formatCount],
  ["diskBytes", "snapshot cache of the last run", megabytes],
  ["ms", "all objects known, from the start of the process", ms],
  ["watchingMs", "all pools watched, from there", ms],
  ["restoredRssBytes", "RSS when all are known", megabytes],
  ["rssBytes", "RSS when all pools are current", megabytes],
  ...blockLines("restore", "restoring"),
];

function blockLines(phase: string, when: string): Line[] {
  return [
    [`${phase}BlockLongestMs`, `longest block, ${when}`, ms],
    [`${phase}BlockLongestOwnMs`, "caused by the process itself", ms],
    ...[5, 10, 20, 50].map((limit): Line => [
      `${phase}BlockOver${limit}`,
      `own blocks over ${limit} ms`,
      formatCount,
    ]),
  ];
}

const NOTES = [
  "* **Blocks** are gaps of a 1 ms timer on the main thread; caused by the process itself is a gap less the time in which the thread was ready but had no core. They are counted by length while loading, while views are built, and in a second minute of churn: the timer itself would be most of the CPU use when idle, so CPU and latency are measured in the minute before.",
  "* **Latency** is from the change in the simulated pool (which writes the time into the VM) to the moment when a listener of the inventory, or of the feed of views, receives it; one VM of sixteen is measured. XAPI itself waits 50 ms, and the client pauses between two responses of a pool.",
  "* **The day** is replayed as fast as the inventory can process it: responses of `event.from` as bytes, parsed and applied as usual, in batches of all sizes; the clock of the inventory is advanced by an hour at a time. Growth is the slope of a linear fit of the hourly samples after the first quarter, each after a full garbage collection.",
  "* **Restart**: a first process has loaded the fleet with a snapshot cache of the last run and has ended; times of the second count from the start of its process.",
].join("\n");
