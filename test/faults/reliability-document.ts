import type { FaultResult } from "./fault-bench.js";
import type { FaultRun, Measured, ResultsFile } from "./results-file.js";

export interface Run extends FaultResult {
  /** Its seed. */
  readonly name: string;
}

export interface Kills {
  readonly kills: number;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly startMs: readonly number[];
  readonly isAuditIntact: boolean;
}

export interface Reliability {
  readonly seed: number;
  readonly results: ResultsFile;
  readonly machine: string;
  readonly date: string;
  /** The document as it was. */
  readonly before: string;
}

/** Heading of what follows the results, written by hand. */
const BY_HAND = "\n## Kills of several servers\n";

/** Longer recoveries are listed, in ms. */
const RECOVERY_TARGET_MS = 5_000;

/** docs/reliability.md */
export function reliabilityDocument(result: Reliability): string {
  const { seed, results } = result;
  const single = results.runs("single");
  const sequences = results.runs("sequence");
  const runs = [...single, ...sequences];
  const servers = results.kills();
  const kills = servers.reduce((sum, one) => sum + one.kills, 0);
  return `${[
    "# Reliability: faults and kills",
    `Written by \`npm run faults -- --sequences ${sequences.length} --seed ${seed} --kills ${kills}\`; only the sections from "Kills of several servers" on are written by hand.`,
    `Written on ${result.date}: ${result.machine}. ${circumstances([...runs, ...servers])}`,
    "## Faults of pools",
    "A simulated pool of two hosts with 50 changes a second, a network that fails on request, the connection, the parser and the mirror of the server. During the faults a VM is renamed all the time: the mirror must show each name within 15 s, or report that the pool is not current. Afterwards the mirror must equal the database of the pool, `pool.verify` must agree, and no socket or timer may be left. Timeouts are shorter than the defaults: 1 s to connect and for `event.from`. A sequence is 3 to 7 random faults, some at the same time; `--sequences 1 --seed N` repeats one.",
    table(
      [
        "",
        "runs",
        "failed",
        "recovery p50",
        "p99",
        "longest",
        "change unknown, longest",
      ],
      [
        ["each fault alone", ...faultFigures(single)],
        ["random sequences", ...faultFigures(sequences)],
      ],
    ),
    "Recovery is the time from the end of the faults until the mirror is equal and current; the target is 5 s (p99).",
    ...failures(runs),
    ...repairs(results.repaired()),
    ...slowRuns(runs),
    "## Kills of the server",
    "`bin/xo-server` is killed (SIGKILL) beside three clients that create users, tokens and servers without a pause, every fourth time during the next start as well, and started again with the same data folder. All that was acknowledged must exist, and `xo-server audit verify` must find the audit log intact.",
    table(
      [
        "kills",
        "acknowledged writes",
        "lost",
        "audit log",
        "start p50",
        "p99",
        "longest",
      ],
      [
        [
          String(kills),
          String(servers.reduce((sum, one) => sum + one.acknowledged, 0)),
          String(servers.flatMap(({ lost }) => lost).length),
          servers.every(({ isAuditIntact }) => isAuditIntact)
            ? "intact"
            : "**not intact**",
          ...spread(servers.flatMap(({ startMs }) => startMs)),
        ],
      ],
    ),
    ...servers.flatMap(({ lost }) => lost.map((one) => `- lost: ${one}`)),
  ].join("\n\n")}\n${sectionByHand(result.before)}`;
}

function sectionByHand(before: string): string {
  const at = before.indexOf(BY_HAND);
  return at < 0 ? "" : before.slice(at);
}

/** At which commits, and how busy the machine was. */
function circumstances(all: readonly Measured[]): string {
  const commits = new Map<string, number>();
  for (const { commit } of all)
    commits.set(commit, (commits.get(commit) ?? 0) + 1);
  const loads = all.map(({ load }) => load).toSorted((a, b) => a - b);
  const [least = 0, middle = 0, most = 0] = [
    loads[0],
    loads[Math.floor(loads.length / 2)],
    loads.at(-1),
  ].map((load) => load?.toFixed(1));
  const at = [...commits].map(([commit, count]) => `${commit} (${count} runs)`);
  return `At commit ${at.join(", ")}. Load average ${least} to ${most}, median ${middle}: times are upper bounds where it is above the number of cores.`;
}

function faultFigures(runs: readonly Run[]): string[] {
  const failed = runs.filter(({ problems }) => problems.length > 0);
  const unknown = runs.map(({ longestUnknownMs }) => longestUnknownMs);
  return [
    String(runs.length),
    String(failed.length),
    ...spread(runs.map(({ recoveryMs }) => recoveryMs)),
    seconds(Math.max(0, ...unknown)),
  ];
}

/** p50, p99 and the longest. */
function spread(times: readonly number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [0.5, 0.99, 1].map((part) =>
    seconds(sorted[Math.ceil(part * sorted.length) - 1] ?? 0),
  );
}

function failures(runs: readonly Run[]): string[] {
  return runs
    .filter(({ problems }) => problems.length > 0)
    .map(
      ({ name, faults, problems }) =>
        `- **failed**, seed ${name}: ${faults.join(", ")}: ${problems.join("; ")}`,
    );
}

function repairs(runs: readonly FaultRun[]): string[] {
  return runs.length === 0
    ? []
    : [
        `${runs.length} runs failed at an earlier commit, and were repeated at a later one:`,
        runs
          .map(
            ({ name, commit, faults, problems }) =>
              `- at ${commit}, seed ${name}: ${faults.join(", ")}: ${problems.join("; ")}`,
          )
          .join("\n"),
      ];
}

function slowRuns(runs: readonly Run[]): string[] {
  const slow = runs
    .filter(({ recoveryMs }) => recoveryMs > RECOVERY_TARGET_MS)
    .map(
      ({ name, faults, recoveryMs }) =>
        `- ${seconds(recoveryMs)}, seed ${name}: ${faults.join(", ")}`,
    );
  return slow.length === 0
    ? []
    : [`${slow.length} runs recovered later than 5 s:`, slow.join("\n")];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(titles),
    line(titles.map((_, i) => (i === 0 ? "---" : "--:"))),
    ...rows.map(line),
  ].join("\n");
}
