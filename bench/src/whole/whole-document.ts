import { formatMegabytes, formatMs } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { figureRows } from "./figure-rows.js";
import {
  atMost,
  atMostMs,
  targetTable,
  type Target,
} from "../harness/target.js";

/** `docs/benchmarks/whole.md`, from the results alone. */
export function wholeDocument(report: Report): string {
  return markdownDocument([
    "# The whole program, from its start to the first list",
    "Written by `npm run bench -- whole`; do not edit.",
    "`bin/xo-server start` as a process of its own over simulated pools, used as a client uses it, over WebSocket and HTTP. Cold: the first start with an empty data folder, and a client that signs in with a password (its hash takes about 0.25 s of CPU time); warm: the next start with the data of the first, and a client that returns with its token, as an open page does. Times are from the start of the process; CPU times are those of the whole process until then, with all its threads. The simulator and the client share the machine.",
    measuredOn(report),
    targetTable(targetsOf(report)),
    markdownTable(
      [
        { title: "" },
        ...report.results.map(({ pool, mode }) => ({
          title: `${pool}, ${mode}`,
          align: "right" as const,
        })),
      ],
      rows.map(([title, cell]) => [title, ...report.results.map(cell)]),
    ),
    spreadOf(report),
    "The list: 24 rows of five fields, sorted by name, with the count of all VMs. Search: a text in the searched properties, and then another one. Filter: by the power state, Running and then Halted. The first search, filter and sort fill the columns that they read. One VM by id or name: `xo.getAllObjects` with a filter. `xo.getAllObjects`: until the client has parsed the answer; from a file: the same JSON, read and parsed by the client; not with 100,000 VMs, whose answer no client can hold as one text. Rename: over the API, median of five, with the time that the pool takes. /health is requested every 20 ms from the first sign-in to the last answer. Longest block: as /metrics reports it, since the start, with waits for a core. At rest: nobody is signed in, from 30 s after the last answer on; before, snapshots are written and columns filled. 200 changes a second: one client has the list open; V8 compiles in the first minute.",
    ...failuresOf(report),
  ]);
}

/** Limits of the whole program from its start, cold (empty data folder) and warm. */
export function targetsOf({ results }: Report): Target[] {
  const find = (pool: string, mode: string) =>
    results.find((one) => one.pool === pool && one.mode === mode);
  const read = (pool: string, mode: string) => (name: string) =>
    figureOf(find(pool, mode), name);
  return [
    ...noPoolsTargets(read("no pools", "warm")),
    ...poolTargets(read("A", "cold"), read("A", "warm")),
    ...fleetTargets(read("100x1000", "cold"), read("100x1000", "warm")),
  ];
}

type Read = (name: string) => number;

function noPoolsTargets(warm: Read): Target[] {
  return [
    atMostMs("Start to listening, no pools, warm", 500, warm("listeningMs")),
    atMostMs("The same, CPU time", 600, warm("listeningCpuMs")),
  ];
}

function poolTargets(cold: Read, warm: Read): Target[] {
  return [
    atMostMs(
      "Start to the complete list of pool A, cold",
      1_500,
      cold("listMs"),
    ),
    atMostMs("The same, CPU time", 2_500, cold("listCpuMs")),
    atMostMs("The same, warm", 800, warm("listMs")),
    atMost(
      "xo.getAllObjects of pool A, cold, of the time that reading and parsing the same JSON from a file takes",
      1.3,
      cold("allMs") / cold("fileMs"),
    ),
    atMost("The same again", 1.3, cold("allAgainMs") / cold("fileMs")),
    atMostMs(
      "Pool A, 200 changes a second, CPU time a second",
      30,
      warm("churnCpuMsPerSecond"),
    ),
    atMostMs("/health meanwhile, p99, cold", 20, cold("healthP99Ms")),
  ];
}

function fleetTargets(cold: Read, warm: Read): Target[] {
  return [
    atMostMs(
      "Start to the complete list of 100 x 1,000 VMs, cold",
      10_000,
      cold("listMs"),
    ),
    atMostMs("The same, CPU time", 12_000, cold("listCpuMs")),
    atMostMs("The same, warm", 3_000, warm("listMs")),
    atMostMs("First search after it, warm", 500, warm("searchMs")),
    atMostMs("Another text after that", 100, warm("searchAgainMs")),
    atMostMs("First filter by the power state", 500, warm("filterMs")),
    atMostMs("Another filter after that", 100, warm("filterAgainMs")),
    atMostMs("First sort by memory", 500, warm("sortMs")),
    atMostMs("The same descending", 100, warm("sortAgainMs")),
    atMostMs("First list of VDIs, warm", 500, warm("disksMs")),
    atMostMs(
      "At rest, CPU time a second, warm",
      50,
      warm("restCpuMsPerSecond"),
    ),
    atMostMs("/health meanwhile, p99, warm", 20, warm("healthP99Ms")),
  ];
}

type Cell = (result: Result) => string;

const rows: readonly (readonly [string, Cell])[] = [
  ...figureRows.map(({ title, name }): [string, Cell] => [
    title,
    (result) => formatMs(figureOf(result, name)),
  ]),
  ["memory, MB", (result) => formatMegabytes(figureOf(result, "rssBytes"))],
  ["runs", ({ runs }) => String(runs)],
];

/** Least and greatest value of the figures that have targets. */
function spreadOf({ results }: Report): string {
  const lines = results.flatMap(({ pool, mode, spread }) =>
    (["listeningCpuMs", "listCpuMs"] as const).flatMap((name) => {
      const range = spread[name];
      if (range === undefined) return [];
      const [least, most] = range.map(formatMs);
      return [`${pool}, ${mode}: ${name} ${least} to ${most}`];
    }),
  );
  return `Spread of the CPU times: ${lines.join("; ")}.`;
}

function failuresOf({ results }: Report): string[] {
  return results.flatMap(({ pool, mode, failure }) =>
    failure === undefined ? [] : [`${pool}, ${mode}: ${failure}.`],
  );
}
