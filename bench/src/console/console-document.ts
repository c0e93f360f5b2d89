import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable, type Target } from "../harness/target.js";

/** Rows by name; each is there twice, `server` and `bare`. */
export const rowNames = ["1 console", "50 consoles", "pictures"] as const;

const KEY_LIMIT_MS = 20;
const RATE_LIMIT = 100e6;

/** `docs/benchmarks/console.md`, from the results alone. */
export function consoleDocument(report: Report): string {
  return markdownDocument([
    "# Consoles",
    "Written by `npm run bench -- console`; do not edit.",
    "One server, a simulated pool, and in front of it a host that has its pictures ready and answers a key at once with 16 x 16 pixels (1 KiB): what is measured is the way. Each row is measured through the server and without it, in fresh processes; the host, the server and the reader share the machine.",
    measuredOn(report),
    targetTable(targetsOf(report)),
    "## From a key to the screen",
    markdownTable(
      keyColumns.map(([title]) => ({ title, align: "right" as const })),
      report.results
        .filter(({ mode }) => mode !== "pictures")
        .map((result) => keyColumns.map(([, cell]) => cell(result))),
    ),
    "One console presses the next key when the screen has answered; of many, each presses one about every 50 ms. Blocks are those of the server's own, without waiting for a core.",
    "## Pictures",
    markdownTable(
      pictureColumns.map(([title]) => ({ title, align: "right" as const })),
      report.results
        .filter(({ mode }) => mode === "pictures")
        .map((result) => pictureColumns.map(([, cell]) => cell(result))),
    ),
    "Raw pictures of 4 MiB through one console. Growth: the server's resident memory after it, both after a full collection.",
  ]);
}

/** Limits of latency and throughput of consoles through the server. */
export function targetsOf({ results }: Report): Target[] {
  const find = (mode: string, place: string) =>
    results.find((one) => one.mode === mode && one.place === place);
  const [one, many, pictures] = rowNames.map((name) => find(name, "server"));
  const rate = figureOf(pictures, "bytesPerSecond");
  return [
    atMostMs("Key to screen, p99", KEY_LIMIT_MS, figureOf(one, "keyP99Ms")),
    atMostMs(
      "Key to screen, 50 consoles at once, p99",
      KEY_LIMIT_MS,
      figureOf(many, "keyP99Ms"),
    ),
    {
      requirement: "Through one console: at least 100 MB/s",
      measured: Number.isFinite(rate) ? `${(rate / 1e6).toFixed(0)} MB/s` : "-",
      met: Number.isFinite(rate) ? rate >= RATE_LIMIT : undefined,
    },
  ];
}

const fixed =
  (name: string, digits: number, divisor = 1) =>
  (result: Result) => {
    const value = figureOf(result, name) / divisor;
    return Number.isFinite(value) ? value.toFixed(digits) : "-";
  };

type Cells = readonly (readonly [string, (result: Result) => string])[];

const keyColumns: Cells = [
  ["", ({ mode }) => mode],
  ["way", ({ place }) => place],
  ["p50, ms", fixed("keyP50Ms", 2)],
  ["p99, ms", fixed("keyP99Ms", 2)],
  ["longest, ms", fixed("keyMaxMs", 1)],
  ["keys", fixed("keys", 0)],
  ["server's CPU, ms", fixed("cpuMs", 0)],
  ["its longest block, ms", fixed("longestOwnBlockMs", 1)],
];

const pictureColumns: Cells = [
  ["way", ({ place }) => place],
  ["MB/s", fixed("bytesPerSecond", 0, 1e6)],
  ["server's CPU, ms", fixed("cpuMs", 0)],
  ["its longest block, ms", fixed("longestOwnBlockMs", 1)],
  ["growth, MiB", fixed("grownBytes", 1, 2 ** 20)],
];
