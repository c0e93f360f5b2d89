import type { KillCounts } from "./site-faults.js";

/** One data folder, with its repositories and its pool. */
export interface KilledHistory {
  readonly seed: number;
  readonly kills: number;
  readonly counts: KillCounts;
  readonly acknowledged: number;
  /** Deletions by the retention that no run has logged. */
  readonly unlogged: number;
  readonly runs: number;
  readonly successes: number;
  /** Disks that the second reader has restored at the end. */
  readonly restoredDisks: number;
  /** Files that the verification has completed. */
  readonly repaired: number;
  readonly lost: readonly string[];
  readonly problems: readonly string[];
  readonly startMs: readonly number[];
  readonly seconds: number;
  readonly load: number;
}

const HEADING = "## Kills of backups by `npm run faults -- backup`";

/** docs/reliability.md with the section about these histories in place of the former one. */
export function withBackupKills(
  document: string,
  commit: string,
  histories: readonly KilledHistory[],
): string {
  const section = `${HEADING}\n\n${textOf(commit, histories)}\n`;
  const at = document.indexOf(`${HEADING}\n`);
  if (at < 0) return `${document.trimEnd()}\n\n${section}`;
  const end = document.indexOf("\n## ", at + 1);
  const rest = end < 0 ? "" : document.slice(end);
  return `${document.slice(0, at)}${section}${rest}`;
}

function textOf(commit: string, histories: readonly KilledHistory[]): string {
  const sum = (of: (history: KilledHistory) => number) =>
    histories.reduce((total, history) => total + of(history), 0);
  const kills = sum((one) => one.kills);
  const seeds = histories.map(({ seed }) => seed).toSorted((a, b) => a - b);
  const loads = histories.map(({ load }) => load).toSorted((a, b) => a - b);
  const findings = histories.flatMap(({ seed, lost, problems }) =>
    [...lost, ...problems].map(
      (text) => `- seed ${seed}: ${text.slice(0, 400)}`,
    ),
  );
  const row = [
    kills,
    sum(({ counts }) => counts.servers),
    sum(({ counts }) => counts.starts),
    sum(({ counts }) => counts.workers),
    sum(({ counts }) => counts.full),
    sum(({ counts }) => counts.gone),
    sum(({ counts }) => counts.coordinator),
    sum((one) => one.acknowledged),
    sum(({ lost }) => lost.length),
    sum(({ problems }) => problems.length),
    sum((one) => one.restoredDisks),
  ];
  return [
    `Written by \`npm run faults -- backup --kills ${kills} --seed ${seeds[0] ?? 1}\` at commit ${commit}, Node.js ${process.versions.node}, in ${Math.round(sum((one) => one.seconds) / 60)} minutes (of all data folders), load average ${loads[0]?.toFixed(0) ?? 0} to ${loads.at(-1)?.toFixed(0) ?? 0}; the priority of workers was that of the server.`,
    "Three jobs (one disk, two disks into two repositories, `purgeSnapshotData`), a mirror job, verifications and collections of garbage at the same time. At a random call of the pool (before the pool gets it, after that, or before its response) or change of a file, `bin/xo-server` is killed (SIGKILL), its workers, or both; or the file system of a repository is full, the folder of a repository is replaced by an empty one, or the coordinator of the pool changes, with or without a kill. Starts are killed as well. After each: runs that only a server was killed in must succeed; each acknowledged backup must be listed; no snapshot, disk, XAPI task, blocked operation or worker may be left. At the end of each data folder all repositories are verified, and each disk of each backup is restored with `tools/read-backup.py` and compared by SHA-256 with what the VM had.",
    table(
      [
        "kills",
        "servers",
        "starts",
        "workers",
        "full",
        "gone",
        "coordinator changed",
        "acknowledged backups",
        "lost",
        "other findings",
        "disks restored",
      ],
      row.map(String),
    ),
    `Runs: ${sum((one) => one.runs)}, of which ${sum((one) => one.successes)} succeeded. Deletions by the retention that are in no log, because the server was killed at that moment: ${sum((one) => one.unlogged)}. Copies of small files whose writing was killed, completed by the verification: ${sum((one) => one.repaired)}.`,
    ...findings,
  ].join("\n\n");
}

function table(titles: readonly string[], row: readonly string[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(titles), line(titles.map(() => "--:")), line(row)].join("\n");
}
