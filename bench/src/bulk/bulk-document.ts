import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { atMostMs, targetTable, type Target } from "../harness/target.js";

/** `docs/benchmarks/bulk.md`, from the results alone. */
export function bulkDocument(report: Report): string {
  return markdownDocument([
    "# Bulk operations",
    "Written by `npm run bench -- bulk`; do not edit.",
    "500 VMs of simulated pool A are started, 50 at a time: by a plain client of XAPI (the package xen-api, which only waits for each task), and by one call of `bulk.run`, which records each start in the audit log and in the task, and updates the objects. Pool, tested program and client are separate processes.",
    measuredOn(report),
    targetTable(bulkTargets(report)),
    markdownTable(
      columns.map(([title], i) => ({
        title,
        align: i === 0 ? ("left" as const) : ("right" as const),
      })),
      report.results.map((result) => columns.map(([, cell]) => cell(result))),
    ),
    "CPU is that of all threads of the tested program, for the server less its cost at rest. Blocks of the event loop exclude the time in which it waited for a core. `/health` is requested every 20 ms while the VMs start.",
  ]);
}

function bulkTargets({ results }: Report): Target[] {
  const of = (mode: string, name: string) =>
    figureOf(
      results.find((result) => result.mode === mode),
      name,
    );
  const server = of("server", "cpuMsPerVm");
  const bare = of("bare", "cpuMsPerVm");
  return [
    atMostMs("CPU a VM, more than the plain client", 5, server - bare),
    atMostMs("longest block", 20, of("server", "longestOwnBlockMs")),
  ];
}

const fixed =
  (name: string, divisor = 1) =>
  (result: Result) => {
    const [least, most] = result.spread[name] ?? [NaN, NaN];
    if (Number.isNaN(least)) return "-";
    const text = (value: number) => (value / divisor).toFixed(1);
    return `${text(figureOf(result, name))} (${text(least)}..${text(most)})`;
  };

const columns: readonly (readonly [string, (result: Result) => string])[] = [
  ["program", ({ mode }) => mode],
  ["CPU, ms a VM", fixed("cpuMsPerVm")],
  ["all VMs, s", fixed("ms", 1_000)],
  ["longest block, ms", fixed("longestOwnBlockMs")],
  ["/health p99, ms", fixed("healthP99Ms")],
];
