import { formatCount, formatMegabytes, formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { measuredOn } from "../harness/measured-on.js";
import { targetTable } from "../harness/target.js";
import { checkTargets } from "./targets.js";

/** `docs/benchmarks/pools.md`, from the results alone. */
export function poolsDocument(report: Report): string {
  const { results } = report;
  const pools = [...new Set(results.map(({ pool }) => pool))].filter(
    (pool) => pool !== "many",
  );
  return markdownDocument([
    "# Loading pools",
    "Written by `npm run bench -- pools A B C`; do not edit.",
    "Time from connecting until all objects of the pool are loaded, in a process that does nothing else; the simulated pool is a separate process. Lower is better.",
    "![Time to load each pool, by mode](pools.svg)",
    measuredOn(report),
    "## Targets",
    targetTable(checkTargets(results)),
    ...pools.flatMap((pool) => poolSection(results, pool)),
    ...manySection(results),
    "## How to read it",
    HOW_TO_READ,
  ]);
}

function poolSection(results: readonly Result[], pool: string): string[] {
  const own = results.filter((result) => result.pool === pool);
  const objects = Math.max(
    ...own.map((result) => figureOf(result, "objects") || 0),
  );
  const bytes = figureOf(
    own.find(({ mode }) => mode === "download"),
    "bytes",
  );
  const size = Number.isFinite(bytes)
    ? `, ${formatMegabytes(bytes)} MB as JSON-RPC`
    : "";
  return [
    `## Pool ${pool}: ${formatCount(objects)} objects${size}`,
    markdownTable(
      [
        { title: "Mode" },
        { title: "Place" },
        ...[
          "ms",
          "min..max",
          "longest block ms",
          "of it own ms",
          "blocks > 50 ms",
          "CPU ms",
          "peak RSS MB",
          "above baseline MB",
          "retained B/object",
          "n",
        ].map((title) => ({ title, align: "right" as const })),
      ],
      own.map(resultCells),
    ),
  ];
}

function resultCells(result: Result): string[] {
  const figure = (name: string): number => figureOf(result, name);
  if (result.runs === 0)
    return [
      result.mode,
      result.place,
      `not measured: ${result.failure ?? ""}`,
      ...Array.from({ length: 8 }, () => ""),
      "0",
    ];
  const [min, max] = result.spread["ms"] ?? [Number.NaN, Number.NaN];
  return [
    result.mode,
    result.place,
    formatMs(figure("ms")),
    `${formatMs(min)}..${formatMs(max)}`,
    formatMs(figure("longestBlockMs")),
    formatMs(figure("longestOwnBlockMs")),
    formatMs(figure("blocksOver50Ms")),
    formatMs(figure("cpuMs")),
    formatMegabytes(figure("peakRssBytes")),
    formatMegabytes(figure("peakRssBytes") - figure("baselineRssBytes")),
    figure("objects") > 0 ? formatCount(figure("retainedBytesPerObject")) : "-",
    String(result.runs),
  ];
}

function manySection(results: readonly Result[]): string[] {
  const many = results.filter(({ pool }) => pool === "many");
  if (many.length === 0) return [];
  return [
    "## A, B, C and forty pools of profile C at once",
    'One process, `auto`, all 43 pools connected at the same time. "Without A, B and C": the same process with the forty small pools only.',
    markdownTable(
      [
        { title: "" },
        ...["median", "min..max"].map((title) => ({
          title,
          align: "right" as const,
        })),
      ],
      many.flatMap(manyRows),
    ),
  ];
}

const MANY_FIGURES: readonly (readonly [name: string, title: string])[] = [
  ["longestBlockMs", "longest block, ms"],
  ["longestOwnBlockMs", "without waits for a core, ms"],
  ["blocksOver50Ms", "blocks over 50 ms, ms"],
  ["ms", "all 43 pools loaded, ms"],
  ["poolAMs", "pool A loaded, ms"],
  ["poolBMs", "pool B loaded, ms"],
  ["poolCMs", "pool C loaded, ms"],
  ["smallFirstMs", "first of the forty loaded, ms"],
  ["smallMedianMs", "median of the forty loaded, ms"],
  ["smallLastMs", "last of the forty loaded, ms"],
  ["aloneLastMs", "last of the forty loaded, without A, B and C, ms"],
  ["cpuMs", "CPU, ms"],
];

function manyRows(result: Result): string[][] {
  if (result.runs === 0) return [["not measured", result.failure ?? "", ""]];
  return MANY_FIGURES.filter(([name]) =>
    Number.isFinite(figureOf(result, name)),
  ).map(([name, title]) => {
    const [min, max] = result.spread[name] ?? [Number.NaN, Number.NaN];
    return [
      title,
      formatMs(figureOf(result, name)),
      `${formatMs(min)}..${formatMs(max)}`,
    ];
  });
}

const HOW_TO_READ = [
  "* Our rows with a worker start when the first parser thread is running, as in a running server; a new process needs 60 to 100 ms more. `xml-rpc:xmlrpc` and `xml-rpc:expat` also convert values back into JSON bytes, so they are slower than those packages alone: compare `peer:xen-api:xml-rpc`.",
  "* Each run is a new process; rows are measured in turn, in reverse order every second round; figures are medians of `n` runs. Rows that take more than 4 s are run three times, more than 10 s twice.",
  "* **Modes.** `auto` is the server's default. `json-rpc`, `json-in-xml` (from a simulated XenServer 7 pool) and `xml-rpc` force a transport; `xml-rpc` alone is our one-pass reader, `:expat` is node-expat, `:xmlrpc` the parser of the npm package `xmlrpc`. **Place**: `main` parses on the main thread, `worker` always in worker threads, `auto` by size.",
  "* **References.** `download` reads the same listing over as many connections with node:http and discards the bytes; `download:onread` lets a socket write into one fixed buffer, which is the minimum on this machine; `download+parse` adds one `JSON.parse` for each response. `peer:xen-api:*` is the npm package `xen-api`, from `connect()` to `objectsFetched`.",
  '* **Blocks** are gaps of a 1 ms timer on the main thread, the same probe in all rows; "blocks > 50 ms" adds up the full length of those longer than that. "Of it own" is the longest gap less the time in which the thread was ready but had no core.',
  "* **Memory.** The peak is the highest resident size of the whole process since the load began; the baseline is the resident size just before it. Retained is its growth after full garbage collections.",
].join("\n");
