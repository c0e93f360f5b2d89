import { markdownDocument, markdownTable } from "../harness/markdown.js";
import { measuredOn } from "../harness/measured-on.js";
import { figureOf, type Report, type Result } from "../harness/result.js";
import {
  atLeast,
  atMost,
  targetTable,
  type Target,
} from "../harness/target.js";

import { SERVER } from "./measure-server.js";
import { NBD_COPY, NBD_OURS } from "./nbd-readers.js";

const OURS = "xo-server";
const PIPE = "zstd -1 -T2 | openssl";
const PEERS = [PIPE, "restic", "borg"];
const NBD = [NBD_OURS, NBD_COPY];

/** `docs/benchmarks/backup.md`, from the results alone. */
export function backupDocument(report: Report): string {
  const results = report.results.filter(
    ({ mode }) => !NBD.includes(mode) && mode !== SERVER,
  );
  const used = figureOf(results[0], "usedMib");
  const changed = figureOf(results[0], "changedMib");
  const absent = PEERS.filter(
    (name) => !results.some(({ mode }) => mode === name),
  );
  return markdownDocument([
    "# Backup and restore of a disk",
    "Written by `npm run bench -- backup`; do not edit.",
    `A raw image of ${2 * used} MiB, ${used} MiB of them in use (programs and libraries of this system), in a local folder. Full backup; then ${changed.toFixed(1)} MiB of random blocks of 64 KiB change (1 %) and are backed up; then the last state is restored and compared. Each step is a process of its own. xo-server gets the changed blocks, as from changed block tracking; the others read the image again. What xo-server reads includes the sample of unchanged blocks that it compares with the last backup. All but the pipe sync what they store and authenticate it; parity adds a file of parity over up to 16 packs.`,
    absent.length > 0 ? `Not installed here: ${absent.join(", ")}.` : "",
    measuredOn(report),
    targetTable(backupTargets(report)),
    tableOf(columns, results),
    "Median (least..greatest). MiB/s and CPU seconds are of the bytes in use. Memory is the most of one process, sampled.",
    ...nbdSection(report),
    ...serverSection(report),
  ]);
}

/** What a worker's source costs without the rest of a backup. */
function nbdSection({ results }: Report): string[] {
  const rows = results.filter(({ mode }) => NBD.includes(mode));
  const missing =
    "## NBD with TLS\n\nNot measured: nbdkit is not installed here.";
  if (rows.length === 0) return [missing];
  const size = figureOf(rows[0], "nbdMib");
  return [
    "## NBD with TLS",
    `An export of ${size} MiB of nbdkit (plugin \`pattern\`, which computes its content), with TLS, is read to nothing: by the source that a worker uses, in a process of its own whose start is included, and by nbdcopy. In turns.`,
    rows.length < NBD.length ? "nbdcopy is not installed here." : "",
    tableOf(nbdColumns, rows),
  ];
}

function serverSection({ results }: Report): string[] {
  const rows = results.filter(({ mode }) => mode === SERVER);
  const [row] = rows;
  if (row === undefined) return [];
  return [
    "## The server meanwhile",
    `\`bin/xo-server\` over a simulated pool backs up eight VMs with ${figureOf(row, "serverDisks")} disks at once, a worker each. A client requests /health every 20 ms. A block is a time in which a timer of 1 ms of the event loop did not come; its own part is at most the CPU time of the main thread in it. The simulator, the workers and the client share the machine.`,
    tableOf(serverColumns, rows),
    ...(row.failure === undefined ? [] : [`Not measured: ${row.failure}`]),
  ];
}

function tableOf(
  columns: readonly (readonly [string, Cell])[],
  results: readonly Result[],
): string {
  return markdownTable(
    columns.map(([title], i) => ({
      title,
      align: i === 0 ? ("left" as const) : ("right" as const),
    })),
    results.map((result) => columns.map(([, cell]) => cell(result))),
  );
}

function backupTargets({ results }: Report): Target[] {
  const of = (mode: string, name: string) =>
    figureOf(
      results.find((result) => result.mode === mode),
      name,
    );
  const ours = (name: string) => of(OURS, name);
  const changed = ours("changedMib");
  const cpu = ours("fullCpuMs") / 1000 / (ours("usedMib") / 1024);
  const rss = Math.max(ours("fullRssMib"), ours("restoreRssMib"));
  return [
    atLeast(
      "full, of the pipe's speed",
      0.8,
      of(PIPE, "fullMs") / ours("fullMs"),
    ),
    atLeast(
      "full, of restic's speed",
      2,
      of("restic", "fullMs") / ours("fullMs"),
    ),
    limit("CPU a GiB of new data", cpu, { most: 5.5, unit: "s" }),
    limit("memory of a worker", rss, { most: 300, unit: "MiB" }),
    atMost(
      "1 % change: read, of what changed",
      1.1,
      ours("incrementalReadMib") / changed,
    ),
    atMost(
      "1 % change: stored, of what changed",
      0.6,
      ours("incrementalStoredMib") / changed,
    ),
    atMost(
      "1 % change: time, of restic's",
      0.05,
      ours("incrementalMs") / of("restic", "incrementalMs"),
    ),
    atLeast(
      "restore, of the pipe's speed",
      0.8,
      of(PIPE, "restoreMs") / ours("restoreMs"),
    ),
    atLeast(
      "through NBD with TLS, of nbdcopy's speed",
      0.9,
      of(NBD_COPY, "nbdMs") / of(NBD_OURS, "nbdMs"),
    ),
    limit(
      "8 VMs at once: own block of the server",
      of(SERVER, "longestOwnMs"),
      {
        most: 10,
        unit: "ms",
      },
    ),
    limit("8 VMs at once: /health, p99", of(SERVER, "healthP99Ms"), {
      most: 20,
      unit: "ms",
    }),
  ];
}

function limit(
  what: string,
  value: number,
  { most, unit }: { most: number; unit: string },
): Target {
  return {
    requirement: `${what}: at most ${most} ${unit}`,
    measured: Number.isFinite(value) ? `${value.toFixed(1)} ${unit}` : "-",
    met: Number.isFinite(value) ? value <= most : undefined,
  };
}

type Cell = (result: Result) => string;

/** A figure with its spread, converted; the conversion may exchange least and greatest. */
const spread =
  (
    name: string,
    convert: (value: number, result: Result) => number = (value) => value,
  ): Cell =>
  (result) => {
    const range = result.spread[name];
    if (range === undefined) return "-";
    const [least, most] = range
      .map((value) => convert(value, result))
      .sort((a, b) => a - b);
    const median = convert(figureOf(result, name), result);
    return `${median.toFixed(1)} (${least!.toFixed(1)}..${most!.toFixed(1)})`;
  };

const speed = (ms: number, result: Result) =>
  figureOf(result, "usedMib") / (ms / 1000);
const cpuPerGib = (ms: number, result: Result) =>
  ms / 1000 / (figureOf(result, "usedMib") / 1024);

const columns: readonly (readonly [string, Cell])[] = [
  ["", ({ mode }) => mode],
  ["full, MiB/s", spread("fullMs", speed)],
  ["CPU, s a GiB", spread("fullCpuMs", cpuPerGib)],
  ["memory, MiB", spread("fullRssMib")],
  ["stored, MiB", spread("fullStoredMib")],
  ["1 %: s", spread("incrementalMs", (ms) => ms / 1000)],
  ["1 %: read, MiB", spread("incrementalReadMib")],
  ["1 %: stored, MiB", spread("incrementalStoredMib")],
  ["restore, MiB/s", spread("restoreMs", speed)],
  ["CPU, s a GiB", spread("restoreCpuMs", cpuPerGib)],
];

const nbdSpeed = (ms: number, result: Result) =>
  figureOf(result, "nbdMib") / (ms / 1000);
const nbdCpuPerGib = (ms: number, result: Result) =>
  ms / 1000 / (figureOf(result, "nbdMib") / 1024);

const nbdColumns: readonly (readonly [string, Cell])[] = [
  ["", ({ mode }) => mode.slice("NBD: ".length)],
  ["MiB/s", spread("nbdMs", nbdSpeed)],
  ["CPU, s a GiB", spread("nbdCpuMs", nbdCpuPerGib)],
  ["memory, MiB", spread("nbdRssMib")],
];

const serverColumns: readonly (readonly [string, Cell])[] = [
  ["duration, s", spread("serverMs", (ms) => ms / 1000)],
  ["read, MiB", spread("serverReadMib")],
  ["CPU of the server, s", spread("serverCpuMs", (ms) => ms / 1000)],
  ["/health p99, ms", spread("healthP99Ms")],
  ["longest, ms", spread("healthLongestMs")],
  ["longest block, ms", spread("longestMs")],
  ["longest own, ms", spread("longestOwnMs")],
  ["own over 5 ms", spread("over5")],
  ["over 10 ms", spread("over10")],
];
