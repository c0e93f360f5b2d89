import type { FaultResult } from "./fault-bench.js";

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
  /** Each fault alone. */
  readonly single: readonly Run[];
  readonly sequences: readonly Run[];
  readonly kills: Kills;
  readonly machine: string;
  /** Load average of the last minute, before and after. */
  readonly load: readonly [number, number];
  readonly commit: string;
  readonly date: string;
}

/** Longer recoveries are listed, in ms. */
const RECOVERY_TARGET_MS = 5_000;

/** docs/reliability.md */
export function reliabilityDocument(result: Reliability): string {
  const { seed, single, sequences, kills, load } = result;
  const runs = [...single, ...sequences];
  return `${[
    "# Reliability: faults and kills",
    `Written by \`npm run faults -- --sequences ${sequences.length} --seed ${seed} --kills ${kills.kills}\`; do not edit.`,
    `Run on ${result.date} at commit ${result.commit}: ${result.machine}. Load average ${load.map((one) => one.toFixed(1)).join(" before, ")} after: times are upper bounds where it is above the number of cores.`,
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
          String(kills.kills),
          String(kills.acknowledged),
          String(kills.lost.length),
          kills.isAuditIntact ? "intact" : "**not intact**",
          ...spread(kills.startMs),
        ],
      ],
    ),
    ...kills.lost.map((one) => `- lost: ${one}`),
  ].join("\n\n")}\n`;
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
