import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { KillableClient } from "../faults/killable-client.js";
import { seededRandom } from "../faults/seeded-random.js";
import { root } from "../running-program.js";
import type { Simulated } from "../simulated.js";
import { randomPoolFault } from "./pool-faults.js";
import { Sampler, type Sample } from "./samples.js";
import { soakDocuments } from "./soak-document.js";
import {
  PACKAGE_ENVIRONMENT,
  startPools,
  startServer,
} from "./soak-programs.js";
import { visitKinds, visitRepeatedly, type Visits } from "./visitors.js";

// npm run soak -- --hours N [--pools C,C] [--churn N] [--clients N] [--seed S] [--out FOLDER]
// To find out what grows: [--pace N] [--visits api,rest,live,page] [--fault-every SECONDS] [--plain-malloc] [--samples FILE]

const { values } = parseArgs({
  options: {
    hours: { type: "string", default: "1" },
    pools: { type: "string", default: "C,C" },
    churn: { type: "string", default: "20" },
    clients: { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    out: { type: "string", default: join(root, "docs", "benchmarks") },
    /** Factor by which visits and pauses of clients are shorter. */
    pace: { type: "string", default: "1" },
    visits: { type: "string", default: Object.keys(visitKinds).join(",") },
    /** Mean time between two faults, in seconds; each lasts a fifth of it. 0: none. */
    "fault-every": { type: "string", default: "60" },
    /** Without the environment that the packages set. */
    "plain-malloc": { type: "boolean", default: false },
    /** All samples as lines of JSON, while the soak runs. */
    samples: { type: "string" },
  },
});
const PASSWORD = "a password of the soak";
const SAMPLES = 500;
const MIN_SAMPLE_MS = 5_000;

const hours = Number(values.hours);
const seed = Number(values.seed);
const durationMs = hours * 3_600_000;
const faultEveryMs = Number(values["fault-every"]) * 1_000;
const load = loadavg()[0]!;
// Read at the start: the running code is of this commit, even if there are later ones.
const commit = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
  cwd: root,
  encoding: "utf8",
}).trim();
const folder = await mkdtemp(join(tmpdir(), "xo-soak-"));
const ends: (() => Promise<void>)[] = [];
const owner = {
  teardown: (end: () => Promise<void>) => void ends.unshift(end),
  testdir: () => folder,
};
const pools = await startPools(owner, values.pools.split(","), values.churn);
const { url, pid } = await startServer(owner, pools, {
  password: PASSWORD,
  env: values["plain-malloc"] ? {} : PACKAGE_ENVIRONMENT,
});
const stop = new AbortController();
const { signal } = stop;
const visits: Visits = { visits: 0, answers: 0, errors: new Map() };
const { host } = new URL(url);
const kinds = values.visits.split(",");
const pace = Number(values.pace);
const clients = Array.from({ length: Number(values.clients) }, (_, i) =>
  visitRepeatedly({
    url,
    password: PASSWORD,
    random: seededRandom(seed * 1_000 + i),
    kind: kinds[i % kinds.length]!,
    pace,
    signal,
    visits,
  }),
);
const faulting = applyFaults(pools);
const samples = await takeSamples(new Sampler(url, pid));
stop.abort();
const faults = await faulting;
await Promise.all(clients);
const verification = await verifyAll(host);
await publish();
for (const end of ends) await end();
await rm(folder, { recursive: true });
process.exit(verification.includes("differ") ? 1 : 0);

/** @returns number of faults */
async function applyFaults(pools: readonly Simulated[]): Promise<number> {
  const random = seededRandom(seed);
  let count = 0;
  if (faultEveryMs === 0) return count;
  const sleep = (ms: number) =>
    pause(ms, undefined, { signal }).catch(() => undefined);
  while (!signal.aborted) {
    await sleep(random(2 * faultEveryMs));
    if (signal.aborted) break;
    const end = await randomPoolFault(pools, random);
    count++;
    await sleep(faultEveryMs / 5);
    await end();
  }
  return count;
}

async function takeSamples(sampler: Sampler): Promise<Sample[]> {
  const taken: Sample[] = [];
  const until = performance.now() + durationMs;
  const everyMs = Math.max(MIN_SAMPLE_MS, durationMs / SAMPLES);
  while (performance.now() < until) {
    await pause(everyMs);
    const sample = await sampler.take();
    taken.push(sample);
    if (values.samples !== undefined)
      await appendFile(values.samples, `${JSON.stringify(sample)}\n`);
  }
  return taken;
}

async function verifyAll(host: string): Promise<string> {
  const client = new KillableClient(host);
  await client.signIn(PASSWORD);
  const found = (await client.request("xo.getAllObjects", {
    filter: { type: "pool" },
  })) as object;
  const results = await Promise.all(
    Object.keys(found).map((id) => client.request("pool.verify", { id })),
  );
  client.close();
  const differing = results.reduce(
    (sum: number, one) => sum + (one as { differing: number }).differing,
    0,
  );
  return differing === 0
    ? `all objects of ${results.length} pools equal those of the pools (pool.verify)`
    : `${differing} objects differ from those of the pools (pool.verify)`;
}

async function publish(): Promise<void> {
  const documents = soakDocuments({
    hours,
    seed,
    pools: `${values.pools}, ${values.churn} changes a second each, ${values.clients} clients`,
    machine: `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, Node.js ${process.versions.node}`,
    commit,
    date: new Date().toISOString().slice(0, 10),
    load: [load, loadavg()[0]!],
    samples,
    ...visits,
    faults,
    verification,
  });
  await mkdir(values.out, { recursive: true });
  for (const [name, text] of Object.entries(documents))
    await writeFile(join(values.out, name), text);
  process.stderr.write(`written to ${values.out}\n`);
}
