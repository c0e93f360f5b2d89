import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../running-program.js";
import { FaultBench } from "./fault-bench.js";
import { allFaults } from "./faults.js";
import { KillBench } from "./kill-bench.js";
import {
  reliabilityDocument,
  type Kills,
  type Run,
} from "./reliability-document.js";
import { seededRandom } from "./seeded-random.js";

// npm run faults -- [--sequences N] [--seed S] [--kills K] [--out FILE]

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    kills: { type: "string", default: "100" },
    out: { type: "string", default: join(root, "docs", "reliability.md") },
  },
});
const seed = Number(values.seed);
const loadBefore = loadavg()[0]!;
const single = await runFaults("faults alone", allFaults.length, (bench, i) =>
  bench.run([allFaults[i]!], seededRandom(seed + i)),
);
const sequences = await runFaults(
  "sequences",
  Number(values.sequences),
  (bench, i) => bench.runSequence(seed + i),
);
const kills = await runKills(Number(values.kills));
const document = reliabilityDocument({
  seed,
  single,
  sequences,
  kills,
  machine: `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, Node.js ${process.versions.node}`,
  load: [loadBefore, loadavg()[0]!],
  commit: execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
    cwd: root,
    encoding: "utf8",
  }).trim(),
  date: new Date().toISOString().slice(0, 10),
});
await writeFile(values.out, document);
process.stderr.write(`written to ${values.out}\n`);
const failed = [...single, ...sequences].filter(
  ({ problems }) => problems.length > 0,
);
const isGood =
  failed.length === 0 && kills.lost.length === 0 && kills.isAuditIntact;
process.exit(isGood ? 0 : 1);

async function runFaults(
  what: string,
  count: number,
  run: (bench: FaultBench, index: number) => Promise<Omit<Run, "name">>,
): Promise<Run[]> {
  const runs: Run[] = [];
  let bench = await FaultBench.start();
  for (let i = 0; i < count; i++) {
    const result = await run(bench, i);
    runs.push({ ...result, name: String(seed + i) });
    if (result.problems.length === 0) continue;
    const text = [...result.faults, ...result.problems].join("; ");
    process.stderr.write(`${what}, seed ${seed + i}: ${text}\n`);
    // What follows is not to fail by the same problem.
    await bench.stop();
    bench = await FaultBench.start();
  }
  await bench.stop();
  process.stderr.write(`${what}: ${runs.length}\n`);
  return runs;
}

async function runKills(count: number): Promise<Kills> {
  const folder = await mkdtemp(join(tmpdir(), "xo-faults-"));
  const ends: (() => Promise<void>)[] = [];
  const owner = {
    teardown: (end: () => Promise<void>) => void ends.push(end),
    testdir: () => folder,
  };
  const bench = new KillBench(owner, folder, seededRandom(seed));
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
  return { kills, acknowledged, lost, startMs, isAuditIntact };
}
