import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../running-program.js";
import { FaultBench, type FaultResult } from "./fault-bench.js";
import { allFaults } from "./faults.js";
import { KillBench } from "./kill-bench.js";
import { reliabilityDocument } from "./reliability-document.js";
import { ResultsFile } from "./results-file.js";
import { seededRandom } from "./seeded-random.js";

// npm run faults -- [--sequences N] [--seed S] [--kills K] [--results FILE] [--out FILE]
// With --results, what the file has is not run again, but for failures of earlier commits.

/** Kills beside one data folder. */
const KILLS_A_FOLDER = 50;

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    kills: { type: "string", default: "100" },
    results: { type: "string" },
    out: { type: "string", default: join(root, "docs", "reliability.md") },
  },
});
const seed = Number(values.seed);
const commit = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
  cwd: root,
  encoding: "utf8",
}).trim();
const measured = () => ({ commit, load: loadavg()[0]! });
const results = new ResultsFile(values.results);
await runFaults("single", allFaults.length, (bench, i) =>
  bench.run([allFaults[i]!], seededRandom(seed + i)),
);
await runFaults("sequence", Number(values.sequences), (bench, i) =>
  bench.runSequence(seed + i),
);
await runKills(Number(values.kills));
const document = reliabilityDocument({
  seed,
  results,
  machine: `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, Node.js ${process.versions.node}`,
  date: new Date().toISOString().slice(0, 10),
  before: await readFile(values.out, "utf8").catch(() => ""),
});
await writeFile(values.out, document);
process.stderr.write(`written to ${values.out}\n`);
const failed = [...results.runs("single"), ...results.runs("sequence")].filter(
  ({ problems }) => problems.length > 0,
);
const isGood =
  failed.length === 0 &&
  results
    .kills()
    .every(({ lost, isAuditIntact }) => lost.length === 0 && isAuditIntact);
process.exit(isGood ? 0 : 1);

async function runFaults(
  kind: "single" | "sequence",
  count: number,
  run: (bench: FaultBench, index: number) => Promise<FaultResult>,
): Promise<void> {
  const done = new Map(results.runs(kind).map((one) => [one.name, one]));
  let bench: FaultBench | undefined;
  for (let i = 0; i < count; i++) {
    const name = String(seed + i);
    const before = done.get(name);
    const isDone = before?.problems.length === 0 || before?.commit === commit;
    if (isDone) continue;
    bench ??= await FaultBench.start();
    const result = await run(bench, i);
    await results.add({ kind, ...result, name, ...measured() });
    if (result.problems.length === 0) continue;
    const text = [...result.faults, ...result.problems].join("; ");
    process.stderr.write(`${kind}, seed ${name}: ${text}\n`);
    // What follows is not to fail by the same problem.
    await bench.stop();
    bench = undefined;
  }
  await bench?.stop();
  process.stderr.write(`${kind}: ${results.runs(kind).length}\n`);
}

async function runKills(count: number): Promise<void> {
  for (;;) {
    const before = results.kills();
    const killed = before.reduce((sum, { kills }) => sum + kills, 0);
    if (killed >= count) return;
    const random = seededRandom(seed + before.length);
    await killServer(Math.min(KILLS_A_FOLDER, count - killed), random);
    process.stderr.write(`kills: ${killed} and more\n`);
  }
}

async function killServer(
  count: number,
  random: ReturnType<typeof seededRandom>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "xo-faults-"));
  const ends: (() => Promise<void>)[] = [];
  const owner = {
    teardown: (end: () => Promise<void>) => void ends.push(end),
    testdir: () => folder,
  };
  const bench = new KillBench(owner, folder, random);
  const lost: string[] = [];
  const startMs: number[] = [];
  while (bench.kills < count) {
    const result = await bench.run();
    lost.push(...result.lost);
    startMs.push(result.startMs);
  }
  lost.push(...(await bench.end()));
  const isAuditIntact = (await bench.verifyAuditLog()) === 0;
  for (const end of ends) await end();
  await rm(folder, { recursive: true });
  const { kills, acknowledged } = bench;
  const result = { kills, acknowledged, lost, startMs, isAuditIntact };
  await results.add({ kind: "kills", ...result, ...measured() });
}
