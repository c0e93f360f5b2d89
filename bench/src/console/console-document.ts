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
    "One server, a simulated pool, and a simulated host that answers each key at once with 16 x 16 pixels (1 KiB) prepared in advance, so that only the transport is measured. Each row is measured through the server (`server`) and without it (`bare`), in new processes; host, server and client share the machine.",
    measuredOn(report),
    targetTable(targetsOf(report)),
    "## From a key to the screen",
    markdownTable(
      keyColumns.map(([title]) => ({ title, align: "right" as const })),
      report.results
        .filter(({ mode }) => mode !== "pictures")
        .map((result) => keyColumns.map(([, cell]) => cell(result))),
    ),
    "A single console sends the next key when the screen has changed; 50 consoles send one about every 50 ms each. Blocks exclude the time in which the server waited for a core.",
    "## Pictures",
    markdownTable(
      pictureColumns.map(([title]) => ({ title, align: "right" as const })),
      report.results
        .filter(({ mode }) => mode === "pictures")
        .map((result) => pictureColumns.map(([, cell]) => cell(result))),
    ),
    "Raw pictures of 4 MiB through one console. Growth: how much larger the resident memory of the server is afterwards, measured after full garbage collections.",
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
  ["path", ({ place }) => place],
  ["p50, ms", fixed("keyP50Ms", 2)],
  ["p99, ms", fixed("keyP99Ms", 2)],
  ["longest, ms", fixed("keyMaxMs", 1)],
  ["keys", fixed("keys", 0)],
  ["CPU of the server, ms", fixed("cpuMs", 0)],
  ["longest block, ms", fixed("longestOwnBlockMs", 1)],
];

const pictureColumns: Cells = [
  ["path", ({ place }) => place],
  ["MB/s", fixed("bytesPerSecond", 0, 1e6)],
  ["CPU of the server, ms", fixed("cpuMs", 0)],
  ["longest block, ms", fixed("longestOwnBlockMs", 1)],
  ["growth, MiB", fixed("grownBytes", 1, 2 ** 20)],
];
