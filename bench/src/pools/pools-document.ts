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
    "From connecting until every object of the pool is there, in a process that does nothing else, against a simulated pool in a process of its own. Lower is better.",
    "![Time to load each pool, by way of loading](pools.svg)",
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
    "One process, `auto`, all 43 pools connected in the same moment. A small pool alone is the same process with nothing beside it.",
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
  ["longestOwnBlockMs", "of it own, ms"],
  ["blocksOver50Ms", "blocks over 50 ms, ms"],
  ["ms", "all 43 pools there, ms"],
  ["poolAMs", "pool A there, ms"],
  ["poolBMs", "pool B there, ms"],
  ["poolCMs", "pool C there, ms"],
  ["smallFirstMs", "first of the forty there, ms"],
  ["smallMedianMs", "median of the forty there, ms"],
  ["smallLastMs", "last of the forty there, ms"],
  ["aloneLastMs", "last of the forty when they load without A, B and C, ms"],
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
  "* Our rows with a worker start with the first parser thread up, as it is in a running server; a process that starts and loads in one go needs 60 to 100 ms more. `xml-rpc:xmlrpc` and `xml-rpc:expat` also turn values back into JSON bytes, so they are slower than bare uses of those packages: compare `peer:xen-api:xml-rpc` too.",
  "* Each run is a fresh process; rows take turns, every second round backwards; figures are medians of `n` runs. Rows that take more than 4 s are run three times, more than 10 s twice.",
  "* **Modes.** `auto` is the server's default. `json-rpc`, `json-in-xml` (from a simulated pool of the XenServer 7 time) and `xml-rpc` force a transport; `xml-rpc` alone is our one-pass reader, `:expat` is node-expat, `:xmlrpc` the parser of the npm package `xmlrpc`. **Place**: `main` parses on the main thread, `worker` always in worker threads, `auto` by size.",
  "* **References.** `download` reads the same listing over as many connections with node:http and throws the bytes away; `download:onread` lets a socket write into one fixed buffer, which is the floor of this machine; `download+parse` adds one `JSON.parse` an answer. `peer:xen-api:*` is the npm package `xen-api`, from `connect()` to `objectsFetched`.",
  '* **Blocks** are gaps of a 1 ms timer on the main thread, the same probe in all rows; "blocks > 50 ms" adds up the full length of those longer than that. "Of it own" is the longest gap less the time in which the thread was ready but had no core: what is left when other processes, the simulator among them, are taken away.',
  "* **Memory.** The peak is the highest resident size of the whole process since the load began; the baseline is the resident size just before it. Retained is heap and buffers of the main thread after a full collection, over what was there before.",
].join("\n");
