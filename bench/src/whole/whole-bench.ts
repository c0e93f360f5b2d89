import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError, type Bench } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";
import { checkOut } from "../harness/checkout.js";
import { createReport } from "../harness/create-report.js";
import type { Figures } from "../harness/figures.js";
import { publishRun, reportText } from "../harness/publish.js";
import { documentsFolder, repositoryRoot } from "../harness/repository.js";
import {
  figureOf,
  toResult,
  type Report,
  type Result,
} from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { toServerConfig } from "../harness/server-config.js";
import { startSimulator } from "../harness/simulator.js";
import { compareTable } from "./compare-document.js";
import { measureStart } from "./start-phases.js";
import { wholeDocument } from "./whole-document.js";

interface Fleet {
  readonly name: string;
  /** Arguments of the simulator; empty: no pools. */
  readonly simulator: readonly string[];
  readonly vms: number;
}

const fleets: readonly Fleet[] = [
  { name: "no pools", simulator: [], vms: 0 },
  { name: "C", simulator: ["--pool", "C"], vms: 60 },
  { name: "B", simulator: ["--pool", "B"], vms: 600 },
  { name: "A", simulator: ["--pool", "A"], vms: 5_000 },
  {
    name: "A+B+C",
    simulator: ["--pool", "A", "--pool", "B", "--pool", "C"],
    vms: 5_660,
  },
  { name: "1x20000", simulator: ["--derived", "1x20000"], vms: 20_000 },
  { name: "200x500", simulator: ["--derived", "200x500"], vms: 100_000 },
  { name: "100x1000", simulator: ["--derived", "100x1000"], vms: 100_000 },
];

/** What a run publishes unless fleets are named. */
const USUAL = ["no pools", "A", "100x1000"];

interface Row {
  readonly fleet: Fleet;
  /** Folder of the repository with the program. */
  readonly root: string;
}

type Options = ReturnType<typeof readOptions>;

/** The program as users run it: from its start to the first list. */
export const wholeBench: Bench = {
  summary:
    "The whole program: from its start to the first list, cold and warm.",
  usage:
    "[C] [B] [A] [A+B+C] [1x20000] [200x500] [100x1000] [--runs N] [--compare REF] [--out DIR] [--smoke]",
  async run(args) {
    const options = readOptions(args);
    if (options.compare === undefined) await measureThis(options);
    else await compareWith(options.compare, options);
  },
};

async function measureThis(options: Options): Promise<void> {
  const rows = options.fleets.map((fleet) => ({ fleet, root: repositoryRoot }));
  const report = createReport(
    (await measure(rows, options)).flatMap(({ results }) => results),
    ["ws"],
  );
  const document = wholeDocument(report);
  process.stdout.write(document);
  await publishRun(
    { "whole.md": document, "whole.json": reportText(report) },
    options,
  );
  if (options.smoke) checkShape(report);
}

/** Measures another commit and this one in turns, and prints both. */
async function compareWith(ref: string, options: Options): Promise<void> {
  const other = await checkOut(ref);
  try {
    const rows = options.fleets.flatMap((fleet) =>
      [other.root, repositoryRoot].map((root) => ({ fleet, root })),
    );
    const measured = await measure(rows, options);
    for (const { row, results } of measured) {
      if (row.root === repositoryRoot) continue;
      const now = measured.find(
        (one) => one.row.fleet === row.fleet && one.row.root !== row.root,
      );
      for (const [i, before] of results.entries()) {
        const after = now!.results[i]!;
        const table = compareTable({ names: [ref, "now"], before, after });
        process.stdout.write(`${table}\n\n`);
      }
    }
  } finally {
    await other.remove();
  }
}

/** Measures all rows in turns. @returns the results of the cold and the warm start of each */
async function measure(
  rows: readonly Row[],
  { runs, smoke }: Options,
): Promise<{ readonly row: Row; readonly results: readonly Result[] }[]> {
  const measured = await measureInRounds(rows, {
    runs,
    measure: (row) => measureFleet(row, smoke),
    onRun: ({ fleet, root }) =>
      process.stderr.write(
        `${fleet.name}${root === repositoryRoot ? "" : ", compared"}\n`,
      ),
  });
  return measured.map(({ row, runs: done, failure }) => ({
    row,
    results: (["cold", "warm"] as const).map((mode) =>
      toResult(
        { pool: row.fleet.name, mode, place: "" },
        {
          runs: done.map((figures) => figuresOf(figures, mode)),
          ...(failure === undefined ? {} : { failure }),
        },
      ),
    ),
  }));
}

function readOptions(args: readonly string[]) {
  const { values, positionals } = readArguments(args, {
    runs: { type: "string" },
    compare: { type: "string" },
    out: { type: "string" },
    smoke: { type: "boolean" },
  });
  const smoke = values.smoke === true;
  const names = smoke ? ["C"] : positionals.length > 0 ? positionals : USUAL;
  // Some of the fleets: printed only.
  const isWhole = !smoke && positionals.length === 0;
  return {
    smoke,
    fleets: names.map(fleetOf),
    runs: smoke ? 1 : (readRuns(values.runs) ?? 3),
    compare: values.compare,
    out: values.out ?? (isWhole ? documentsFolder : undefined),
  };
}

function fleetOf(name: string): Fleet {
  const fleet = fleets.find((one) => one.name === name);
  if (fleet !== undefined) return fleet;
  const known = fleets.map((one) => one.name).join(", ");
  throw new UsageError(`no fleet ${name}; there are ${known}`);
}

/** Figures of a cold and a warm start, with the mode before their names. */
async function measureFleet(
  { fleet, root }: Row,
  smoke: boolean,
): Promise<Figures> {
  const folder = await mkdtemp(join(tmpdir(), "xo-whole-"));
  const simulator =
    fleet.vms === 0
      ? undefined
      : await startSimulator([...fleet.simulator, "--prepare", "json"]);
  try {
    const config = join(folder, "config.yaml");
    const pools = simulator?.pools ?? [];
    await writeFile(config, toServerConfig(join(folder, "data"), pools));
    const start = {
      root,
      config,
      pools,
      vms: fleet.vms,
      settleMs: smoke ? 200 : 30_000,
      restMs: smoke ? 200 : 20_000,
    };
    const { figures: cold, token } = await measureStart(start);
    // As a page that was open when the server was restarted.
    const { figures: warm } = await measureStart({
      ...start,
      ...(token !== undefined && { token }),
    });
    return { ...prefixed(cold, "cold"), ...prefixed(warm, "warm") };
  } finally {
    await simulator?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function prefixed(figures: Figures, mode: string): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${mode} ${name}`, value]),
  );
}

function figuresOf(figures: Figures, mode: string): Figures {
  return Object.fromEntries(
    Object.entries(figures)
      .filter(([name]) => name.startsWith(`${mode} `))
      .map(([name, value]) => [name.slice(mode.length + 1), value]),
  );
}

/** @throws Error where something was not measured */
export function checkShape({ results }: Report): void {
  for (const result of results) {
    if (result.failure !== undefined) throw new Error(result.failure);
    for (const name of ["listeningMs", "listMs", "byIdMs", "allMs", "rssBytes"])
      if (!(figureOf(result, name) > 0))
        throw new Error(`${result.pool}, ${result.mode}: no ${name}`);
  }
}
