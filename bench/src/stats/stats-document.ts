import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable, type Target } from "../harness/target.js";

/** Of one core, for 5,000 VMs and 64 hosts. */
const MAX_PERCENT = 20;
const MAX_BLOCK_MS = 10;

/** `docs/benchmarks/stats.md`, from the results alone. */
export function statsDocument(report: Report): string {
  const { results } = report;
  const servers = results.filter(({ mode }) => mode.endsWith("followed"));
  const memory = results.filter(({ mode }) => mode.startsWith("memory"));
  return markdownDocument([
    "# Statistics",
    "Written by `npm run bench -- stats`; do not edit.",
    "A server and a pool of 5,000 VMs on 64 hosts, each in its own process, left alone for a minute. The server follows what the hosts measure, every 5 s, or does not.",
    measuredOn(report),
    targetTable(checkTargets(results)),
    table(serverColumns, servers),
    "CPU in per cent of one core; blocks of the event loop less waits for a core. The lag is the mean from a host's measurement until lists and filters know of it: hosts measure every 5 s, and figures are published every 5 s.",
    "## Memory",
    "100 pools of 1,000 VMs with 25 figures each, of which ten minutes are kept; with a bound that is large enough for all of them, and with the bound of a machine with 8 GiB. Used memory is the growth of the process, after a full garbage collection.",
    table(memoryColumns, memory),
  ]);
}

function checkTargets(results: readonly Result[]): Target[] {
  const of = (name: string) => results.find(({ mode }) => mode === name);
  const cpu = added(of("followed"), of("not followed"), "cpuPercent");
  const bounded = of("memory, bounded");
  const used = figureOf(bounded, "usedBytes");
  const limit = figureOf(bounded, "limitBytes");
  return [
    {
      requirement: `CPU that following adds: less than ${MAX_PERCENT} % of a core`,
      measured: `${cpu.toFixed(1)} %`,
      met: Number.isNaN(cpu) ? undefined : cpu < MAX_PERCENT,
    },
    atMostMs(
      "Longest block, without waits for a core",
      MAX_BLOCK_MS,
      figureOf(of("followed"), "longestOwnBlockMs"),
    ),
    {
      requirement: "Memory of 100,000 VMs: within its bound",
      measured: `${(used / 2 ** 20).toFixed(0)} of ${(limit / 2 ** 20).toFixed(0)} MiB`,
      met: Number.isNaN(used) ? undefined : used <= limit,
    },
  ];
}

function added(
  one: Result | undefined,
  other: Result | undefined,
  name: string,
): number {
  return figureOf(one, name) - figureOf(other, name);
}

type Column = readonly [string, (result: Result) => string];

function table(columns: readonly Column[], results: readonly Result[]): string {
  return markdownTable(
    columns.map(([title]) => ({ title, align: "right" as const })),
    results.map((result) => columns.map(([, cell]) => cell(result))),
  );
}

const fixed =
  (name: string, digits: number, divisor = 1) =>
  (result: Result) => {
    const value = figureOf(result, name) / divisor;
    return Number.isNaN(value) ? "-" : value.toFixed(digits);
  };

const serverColumns: readonly Column[] = [
  ["server", ({ mode }) => mode],
  ["CPU, all threads, %", fixed("cpuPercent", 1)],
  ["CPU, main thread, %", fixed("mainPercent", 1)],
  ["longest block, ms", fixed("longestOwnBlockMs", 1)],
  ["hosts", fixed("hosts", 0)],
  ["objects", fixed("objects", 0)],
  ["responses a second", fixed("answersPerSecond", 1)],
  ["lag, s", fixed("lagSeconds", 1)],
  ["all hosts' graphs, first, ms", fixed("coldMs", 0)],
  ["again, ms", fixed("warmMs", 0)],
  ["kept, MiB", fixed("keptBytes", 0, 2 ** 20)],
  ["resident, MiB", fixed("rssBytes", 0, 2 ** 20)],
];

const memoryColumns: readonly Column[] = [
  ["", ({ mode }) => mode],
  ["VMs", fixed("vms", 0)],
  ["rows of 5 s kept", fixed("rowsKept", 0)],
  ["bytes a VM", fixed("bytesPerVm", 0)],
  ["used, MiB", fixed("usedBytes", 0, 2 ** 20)],
  ["estimated, MiB", fixed("estimatedBytes", 0, 2 ** 20)],
  ["bound, MiB", fixed("limitBytes", 0, 2 ** 20)],
];
