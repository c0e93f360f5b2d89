import type { Bench } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";
import { measureInChild } from "../harness/child.js";
import { createReport } from "../harness/create-report.js";
import type { Figures } from "../harness/figures.js";
import { publish, reportText } from "../harness/publish.js";
import { documentsFolder } from "../harness/repository.js";
import { figureOf, toResult, type Report } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { withSimulator, type PoolAddress } from "../harness/simulator.js";
import { statsDocument } from "./stats-document.js";
import type { MemoryJob } from "./stats-job.js";

const MIB = 2 ** 20;

/** 100 pools of 1,000 VMs: with room for all, and with the bound of a machine of 8 GiB. */
const fleet = {
  pools: 100,
  hostsPerPool: 10,
  vmsPerHost: 100,
  columnsPerVm: 25,
};
const LARGE_LIMIT = 8192 * MIB;
const smallFleet = { ...fleet, pools: 2 };

type Row =
  | { readonly name: "followed" | "not followed" }
  | { readonly name: string; readonly memory: MemoryJob };

const SMOKE_HOSTS = 4;

/** What it costs to follow the measurements of all hosts, and to keep them. */
export const statsBench: Bench = {
  summary: "Statistics of 5,000 VMs and 64 hosts every 5 s; memory of 100,000.",
  usage: "[--runs N] [--out DIR] [--smoke] [--profile DIR]",
  async run(args) {
    const options = parse(args);
    const { runs, out, smoke } = options;
    const simulated = smoke
      ? ["--hosts", `${SMOKE_HOSTS}`, "--vms", "40", "--members", "3"]
      : ["--pool", "A", "--members", "63", "--prepare", "json"];
    const measured = await withSimulator(simulated, ({ pools }) =>
      measureInRounds<Row>(rowsOf(smoke), {
        runs,
        runsOf: (row) => ("memory" in row ? 1 : runs),
        measure: (row) => measure(row, pools[0]!, options),
        onRun: ({ name }, outcome) => {
          const how = outcome instanceof Error ? `: ${outcome.message}` : "";
          process.stderr.write(`${name}${how}\n`);
        },
      }),
    );
    const results = measured.map((one) =>
      toResult({ pool: smoke ? "" : "A", mode: one.row.name, place: "" }, one),
    );
    const report = createReport(results, []);
    const document = statsDocument(report);
    process.stdout.write(document);
    if (out !== undefined)
      await publish(out, {
        "stats.md": document,
        "stats.json": reportText(report),
      });
    if (smoke) checkShape(report);
  },
};

function rowsOf(smoke: boolean): Row[] {
  const memory = smoke ? smallFleet : fleet;
  return [
    { name: "followed" },
    { name: "not followed" },
    ...(smoke
      ? []
      : [
          {
            name: "memory, large bound",
            memory: { ...memory, limitBytes: LARGE_LIMIT },
          },
        ]),
    {
      name: "memory, bounded",
      memory: { ...memory, limitBytes: (smoke ? 10 : 512) * MIB },
    },
  ];
}

function measure(
  row: Row,
  pool: PoolAddress,
  { smoke, profile }: StatsOptions,
): Promise<Figures> {
  if ("memory" in row)
    return measureInChild({
      program: "stats/programs/memory.js",
      job: row.memory,
      timeoutMs: 300_000,
    });
  const nodeOptions =
    profile === undefined || row.name !== "followed"
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profile}`];
  return measureInChild({
    program: "stats/programs/follow.js",
    job: {
      pool,
      nodeOptions,
      follow: row.name === "followed",
      ...(smoke
        ? {
            hosts: SMOKE_HOSTS,
            intervalMs: 1_000,
            settleMs: 1_000,
            measureMs: 1_000,
          }
        : {
            hosts: 64,
            intervalMs: 5_000,
            settleMs: 20_000,
            measureMs: 60_000,
          }),
    },
    timeoutMs: 300_000,
  });
}

/** @throws Error where something was not measured */
function checkShape({ results }: Report): void {
  for (const result of results)
    if (result.failure !== undefined) throw new Error(result.failure);
  const [followed] = results;
  if (!(figureOf(followed, "hosts") === SMOKE_HOSTS))
    throw new Error("not all hosts");
  if (!(figureOf(followed, "objects") > 4)) throw new Error("no VMs");
  if (!(figureOf(followed, "failing") === 0)) throw new Error("hosts fail");
}

interface StatsOptions {
  readonly runs: number;
  readonly out: string | undefined;
  /** A small pool for a moment: checks only that the bench works. */
  readonly smoke: boolean;
  /** Folder for profiles of the server. */
  readonly profile: string | undefined;
}

/** @throws UsageError */
function parse(args: readonly string[]): StatsOptions {
  const { values } = readArguments(args, {
    runs: { type: "string" },
    out: { type: "string" },
    smoke: { type: "boolean" },
    profile: { type: "string" },
  });
  const smoke = values.smoke === true;
  const quiet = smoke || values.profile !== undefined;
  return {
    runs: quiet ? 1 : (readRuns(values.runs) ?? 3),
    out: values.out ?? (quiet ? undefined : documentsFolder),
    smoke,
    profile: values.profile,
  };
}
