import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../running-program.js";
import { seededRandom } from "../seeded-random.js";
import { withBackupKills, type KilledHistory } from "./backup-kills-section.js";
import { BackupKillBench } from "./backup-kill-bench.js";
import { Site } from "./site.js";

// npm run faults -- backup [--kills N] [--seed S] [--folder-kills N] [--parallel N] [--minutes N] [--out FILE]
// Each data folder has a seed of its own; `--kills 1 --seed S` repeats the beginning of one.

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    "folder-kills": { type: "string", default: "25" },
    parallel: { type: "string", default: "1" },
    // No kills after this time.
    minutes: { type: "string", default: "Infinity" },
    out: { type: "string", default: join(root, "docs", "reliability.md") },
  },
});
const commit = execFileSync("git", ["rev-parse", "--short=8", "HEAD"], {
  cwd: root,
  encoding: "utf8",
}).trim();
const histories: KilledHistory[] = [];
const total = Number(values.kills);
const inFolder = Number(values["folder-kills"]);
const end = Date.now() + Number(values.minutes) * 60_000;
let planned = 0;
let seed = Number(values.seed);
await Promise.all(Array.from({ length: Number(values.parallel) }, runSome));
process.stderr.write(`written to ${values.out}\n`);
process.exit(
  histories.every(({ lost, problems }) => lost.length + problems.length === 0)
    ? 0
    : 1,
);

/** Runs histories until enough are planned, and writes the document after each. */
async function runSome(): Promise<void> {
  while (planned < total && Date.now() < end) {
    const kills = Math.min(total - planned, inFolder);
    planned += kills;
    const history = await run(seed++, kills);
    histories.push(history);
    process.stderr.write(`${JSON.stringify(history)}\n`);
    const before = await readFile(values.out, "utf8");
    await writeFile(values.out, withBackupKills(before, commit, histories));
  }
}

async function run(seed: number, kills: number): Promise<KilledHistory> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-kills-"));
  const ends: (() => Promise<void>)[] = [];
  const owner = {
    teardown: (end: () => Promise<void>) => void ends.push(end),
    testdir: () => folder,
  };
  const begun = Date.now();
  let reported = 0;
  const site = await Site.create(owner, folder);
  const bench = new BackupKillBench(site, seededRandom(seed));
  try {
    await bench.begin();
    while (bench.kills < kills && Date.now() < end) {
      const what = await bench.round();
      const seconds = Math.round((Date.now() - begun) / 1000);
      const { acknowledged, lost, problems } = bench.state;
      const found = [...lost, ...problems].slice(reported);
      reported += found.length;
      process.stderr.write(
        `seed ${seed}, ${seconds} s: ${bench.kills} kills, ${acknowledged} backups, ${reported} findings; ${what}\n${found.map((one) => `  ${one}\n`).join("")}`,
      );
    }
    await bench.end();
  } catch (error) {
    bench.state.problems.push(`ended: ${(error as Error).message}`);
  }
  for (const end of ends.toReversed()) await end();
  await rm(folder, { recursive: true, force: true });
  const { counts, state, restoredDisks, repaired } = bench;
  const { acknowledged, unlogged, runs, successes, lost, problems } = state;
  return {
    seed,
    kills: bench.kills,
    counts,
    acknowledged,
    unlogged,
    runs,
    successes,
    restoredDisks,
    repaired,
    lost,
    problems,
    startMs: site.startMs,
    seconds: Math.round((Date.now() - begun) / 1000),
    load: loadavg()[0]!,
  };
}
