import { formatCount, formatMs, formatRatio } from "../harness/format.js";
import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import { targetTable } from "../harness/target.js";
import { exponentOfNLogN, fittedExponent } from "./curve-fit.js";
import type { Section } from "./placement-rows.js";
import { placementTargets, pointsOf } from "./placement-targets.js";

/** `docs/benchmarks/placement.md`, from the results alone. */
export function placementDocument(report: Report): string {
  const of = (section: Section) =>
    report.results.filter(({ place }) => place === section);
  return markdownDocument([
    "# Placement",
    "Written by `npm run bench -- placement`; do not edit.",
    "What runs where, planned by `packages/placement` on one core. Each run is a process of its own that has just started: times are those of code that is not compiled yet. Median (least..most). A full plan is the model indexed and everything placed.",
    measuredOn(report),
    targetTable(placementTargets(report)),
    ...scenarioPart(of("scenario"), of("pacemaker")[0]),
    ...curvePart(of("curve")),
    ...movesPart([...of("evacuation"), ...of("balance")]),
    ...survivalPart(of("survival")),
    ...qualityPart(of("quality")),
    ...failures(report),
  ]);
}

function scenarioPart(
  scenarios: readonly Result[],
  pacemaker: Result | undefined,
): string[] {
  if (scenarios.length === 0 && pacemaker === undefined) return [];
  return [
    "## The scenario",
    "100 hosts; 100 sets of 100 clones with anti-affinity, one of each set on every host; a host that each set likes best. Anti-affinity is required (then nothing can restart when a host is out, and the plan proves why) or preferred (then all of the host's VMs restart). One host out: the plan is repaired, or the failover of what runs is planned. All: the failovers of each host in turn.",
    table(scenarioColumns, scenarios),
    ...(pacemaker === undefined
      ? []
      : [pacemakerPart(scenarios[0], pacemaker)]),
  ];
}

function pacemakerPart(
  scenario: Result | undefined,
  pacemaker: Result,
): string {
  if (pacemaker.failure !== undefined)
    return `Beside it: crm_simulate failed: ${pacemaker.failure}.`;
  if (pacemaker.runs === 0)
    return "Beside it: skipped: crm_simulate is not installed.";
  const times = (one: string, other: string) =>
    formatRatio(figureOf(pacemaker, one) / figureOf(scenario, other));
  return markdownDocument([
    "Beside it, in turns in the same run: `crm_simulate --run` of Pacemaker on the same sets as clones of at most one instance a node, with the same locations; the whole process is timed, with reading the file and printing. It does not consider memory (with `placement-strategy=utilization` it takes more than ten minutes); ours keeps account of it.",
    table(pacemakerColumns, [pacemaker]),
    `Pacemaker takes ${times("ms", "ms")} as long for the full plan (CPU: ${times("cpuMs", "cpuMs")}), and ${times("outMs", "failoverMs")} as long with a node out (beside our failover, index not counted; beside our whole full plan: ${times("outMs", "ms")}).`,
  ]).trimEnd();
}

function curvePart(curve: readonly Result[]): string[] {
  if (curve.length === 0) return [];
  const points = pointsOf(curve.filter(({ runs }) => runs > 0));
  const [is, limit] = [fittedExponent(points), exponentOfNLogN(points)];
  return [
    "## From 1,000 to 100,000 VMs",
    "100 VMs a host, of four sizes, 70 % of all memory; a tenth in groups of three, half of them strict; a twentieth on a network that half of the hosts have; a hundredth with a liked host. Nothing runs, everything is placed. Again: the better of two more plans in the same process. Memory is the highest resident size, less what it was with the model loaded.",
    table(curveColumns, curve),
    ...(Number.isFinite(is)
      ? [
          `Again grows as n^${is.toFixed(2)}; n log n at these places as n^${limit.toFixed(2)}.`,
        ]
      : []),
  ];
}

function movesPart(results: readonly Result[]): string[] {
  if (results.length === 0) return [];
  return [
    "## Moves",
    "A host with 1,000 VMs is emptied onto 20 others; 100 hosts with 10,000 VMs, every fourth host overloaded, are balanced by at most 5,000 moves; density empties hosts as well.",
    table(movesColumns, results),
  ];
}

function survivalPart(results: readonly Result[]): string[] {
  if (results.length === 0) return [];
  return [
    "## Failures survived",
    "64 hosts with 5,000 VMs that all have to restart, and this share of the memory in use: may any set of this number of hosts fail? Either each set of hosts is planned, or a bound proves it for all sets at once.",
    table(survivalColumns, results),
  ];
}

function qualityPart([result]: readonly Result[]): string[] {
  if (result === undefined) return [];
  const count = (name: string) => formatCount(figureOf(result, name));
  return [
    "## Beside an exact search",
    `${count("pools")} random pools of up to 6 hosts and 20 VMs, with networks and SRs that not all hosts reach, devices, groups, locations, hosts that are disabled or down. A search that tries everything says what could be.`,
    `Of ${count("failovers")} failures of 1 to 3 hosts, ${count("solvable")} can be survived; ${count("missed")} of these were not. ${count("fewer")} pools were reported to survive fewer failures than they do, ${count("calledWrongly")} more.`,
  ];
}

/** Rows that gave no figures, and why. */
function failures({ results }: Report): string[] {
  const failed = results.filter(({ failure }) => failure !== undefined);
  return failed.map(({ mode, failure }) => `${mode} failed: ${failure}`);
}

type Column = readonly [string, (result: Result) => string];

function table(columns: readonly Column[], results: readonly Result[]): string {
  return markdownTable(
    columns.map(([title], i) => ({
      title,
      align: i === 0 ? ("left" as const) : ("right" as const),
    })),
    results.map((result) => columns.map(([, cell]) => cell(result))),
  );
}

const ms = (name: string) => (result: Result) => {
  const spread = result.spread[name];
  if (spread === undefined)
    return result.failure === undefined ? "-" : "failed";
  const [least, most] = spread;
  const middle = formatMs(figureOf(result, name));
  return `${middle} (${formatMs(least)}..${formatMs(most)})`;
};

const count = (name: string) => (result: Result) =>
  formatCount(figureOf(result, name));

const name: Column = ["", ({ mode }) => mode];

const scenarioColumns: readonly Column[] = [
  name,
  ["full plan, ms", ms("ms")],
  ["CPU, ms", ms("cpuMs")],
  ["placed", count("placed")],
  ["repaired, ms", ms("repairMs")],
  ["CPU, ms", ms("repairCpuMs")],
  ["places that changed", count("moved")],
  ["failover, ms", ms("failoverMs")],
  ["CPU, ms", ms("failoverCpuMs")],
  ["restarts", count("failoverRestarts")],
  ["all failures, ms", ms("allMs")],
  ["CPU, ms", ms("allCpuMs")],
  ["survived", count("survived")],
];

const pacemakerColumns: readonly Column[] = [
  name,
  ["full plan, ms", ms("ms")],
  ["CPU, ms", ms("cpuMs")],
  ["placed", count("placed")],
  ["one node out, ms", ms("outMs")],
  ["CPU, ms", ms("outCpuMs")],
  ["restarts", count("restarts")],
];

const curveColumns: readonly Column[] = [
  ["VMs", count("vms")],
  ["hosts", count("hosts")],
  ["full plan, ms", ms("ms")],
  ["CPU, ms", ms("cpuMs")],
  ["again, ms", ms("warmMs")],
  ["again, ns / (n log2 n)", perNLogN],
  ["memory, bytes a VM", count("bytesPerVm")],
  ["without a place", count("unplaced")],
];

function perNLogN(result: Result): string {
  const n = figureOf(result, "vms");
  const ns = (figureOf(result, "warmMs") * 1e6) / (n * Math.log2(n));
  return Number.isNaN(ns) ? "-" : ns.toFixed(1);
}

const movesColumns: readonly Column[] = [
  name,
  ["plan, ms", ms("ms")],
  ["CPU, ms", ms("cpuMs")],
  ["hosts", count("hosts")],
  ["VMs", count("vms")],
  ["moves", count("actions")],
  ["without a place", count("unplaced")],
  ["overloaded before", count("aboveBefore")],
  ["after", count("aboveAfter")],
  ["emptied", count("emptied")],
];

const survivalColumns: readonly Column[] = [
  name,
  ["ms", ms("ms")],
  ["CPU, ms", ms("cpuMs")],
  ["survived", count("failures")],
  ["at most", count("atMost")],
  [
    "answer",
    (result) => {
      const [found, most] = [
        figureOf(result, "failures"),
        figureOf(result, "most"),
      ];
      if (Number.isNaN(found)) return "-";
      if (found === most) return "as asked";
      return result["exact"] === 1 ? "exact" : "between bounds";
    },
  ],
  ["sets planned", count("sets")],
  ["numbers of failures proven by a bound", count("byBound")],
];
