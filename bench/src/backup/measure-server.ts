import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ApiClient } from "../api/api-client.js";
import type { Figures } from "../harness/figures.js";
import { processCpuMs } from "../harness/process-cpu.js";
import { ServerProcess } from "../harness/server-process.js";
import { toResult, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { withSimulator, type Simulator } from "../harness/simulator.js";
import { HealthWatch } from "../measure/health-watch.js";
import type { ServerBlocks } from "./programs/server-probe.js";

/** Mode of the result. */
export const SERVER = "server: 8 VMs at once";

const PASSWORD = "bench bench bench";
const LOOK_MS = 50;
const MIB = 1024 * 1024;

interface Scale {
  readonly vms: number;
  /** Bytes a second that guests write before and during the run, so that there is something to read. */
  readonly guestWrites: number;
  /** How long guests have written when the backup begins, in ms. */
  readonly writeMs: number;
}

const FULL: Scale = { vms: 8, guestWrites: 32 * MIB, writeMs: 10_000 };
/** Only shows that it works: each VM has a worker process. */
const SMOKE: Scale = { vms: 1, guestWrites: 2 * MIB, writeMs: 500 };

const probe = new URL("./programs/server-probe.js", import.meta.url).href;

interface Run {
  readonly status: string;
  readonly vms: readonly {
    readonly repositories?: readonly {
      readonly disks?: readonly { readonly read: number }[];
    }[];
  }[];
}

/** @param folder for its files; must exist */
export async function measureServerRows(
  folder: string,
  { runs, smoke }: { runs: number; smoke: boolean },
): Promise<Result[]> {
  const measured = await measureInRounds([SERVER], {
    runs,
    measure: () => measureInFolder(folder, smoke ? SMOKE : FULL),
    onRun: (mode, outcome) =>
      process.stderr.write(
        `${mode} ${outcome instanceof Error ? outcome.message : ""}\n`,
      ),
  });
  return measured.map((one) =>
    toResult({ pool: "", mode: one.row, place: "" }, one),
  );
}

async function measureInFolder(parent: string, scale: Scale): Promise<Figures> {
  const folder = join(parent, "server");
  await mkdir(folder);
  try {
    return await measureServer(folder, scale);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * `bin/xo-server` over a simulated pool backs up eight VMs at once, each in a worker: how long its event loop is blocked
 * and /health takes meanwhile, seen from outside.
 * @param folder for its files; must exist
 */
async function measureServer(folder: string, scale: Scale): Promise<Figures> {
  const args = ["--hosts", "2", "--vms", String(scale.vms)];
  return withSimulator(
    [...args, "--guest-writes", String(scale.guestWrites)],
    (simulator) => measureWith(simulator, folder, scale),
  );
}

async function measureWith(
  { pools }: Simulator,
  folder: string,
  { vms, writeMs }: Scale,
): Promise<Figures> {
  const config = join(folder, "config.yaml");
  const [pool] = pools;
  await writeFile(
    config,
    `dataDir: ${join(folder, "data")}\npools:\n  - { label: P, hosts: ["${pool!.url}"], user: ${pool!.user}, password: ${pool!.password} }\n`,
  );
  const file = join(folder, "blocks.json");
  const server = new ServerProcess(config, {
    XO_ADMIN_PASSWORD: PASSWORD,
    XO_BENCH_PROBE: file,
    NODE_OPTIONS: `--import=${probe}`,
  });
  try {
    const url = await server.url;
    const client = await ApiClient.open(url);
    await client.call("session.signIn", { email: "admin", password: PASSWORD });
    const id = await createJob(client, folder, vms);
    await pause(writeMs);
    process.kill(server.pid, "SIGUSR2");
    const health = new HealthWatch(url);
    const cpuBefore = processCpuMs(server.pid);
    const before = performance.now();
    await client.call("job.runNow", { id, wait: true });
    const ms = performance.now() - before;
    const cpuMs = processCpuMs(server.pid) - cpuBefore;
    const { p99Ms, longestMs } = await health.stop();
    process.kill(server.pid, "SIGUSR2");
    const blocks = await readBlocks(file);
    const { disks, read } = await disksOf(client, id);
    client.close();
    return {
      serverMs: ms,
      serverCpuMs: cpuMs,
      serverReadMib: read / MIB,
      serverDisks: disks,
      healthP99Ms: p99Ms,
      healthLongestMs: longestMs,
      ...blocks,
    };
  } finally {
    await server.stop();
  }
}

/** A repository and a job that backs up all VMs at once. */
async function createJob(
  client: ApiClient,
  folder: string,
  count: number,
): Promise<string> {
  const vms = await untilVms(client, count);
  const path = join(folder, "server-repository");
  await mkdir(path);
  const { id: repository } = (await client.call("remote.create", {
    name: "bench",
    url: `file://${path}`,
    passphrase: PASSWORD,
  })) as { id: string };
  const job = {
    type: "backup",
    name: "bench",
    vms,
    repositories: [repository],
    retention: { keepLast: 3 },
    concurrency: count,
    concurrencyPerHost: count,
    concurrencyPerSr: 4 * count,
    concurrencyPerPool: count,
  };
  return String(await client.call("job.create", { job }));
}

/** @returns ids */
async function untilVms(client: ApiClient, count: number): Promise<string[]> {
  for (;;) {
    const objects = (await client.call("xo.getAllObjects", {})) as Record<
      string,
      { readonly type: string; readonly id: string }
    >;
    const vms = Object.values(objects).filter(({ type }) => type === "VM");
    if (vms.length === count) return vms.map(({ id }) => id);
    await pause(LOOK_MS);
  }
}

/** Of the last run. @throws Error if it was not a success */
async function disksOf(
  client: ApiClient,
  jobId: string,
): Promise<{ disks: number; read: number }> {
  const { runs } = (await client.call("jobRun.list", { jobId })) as {
    runs: Run[];
  };
  const [run] = runs;
  if (run?.status !== "success")
    throw new Error(`the job ended with ${run?.status}`);
  const disks = run.vms.flatMap(({ repositories = [] }) =>
    repositories.flatMap(({ disks = [] }) => disks),
  );
  return {
    disks: disks.length,
    read: disks.reduce((sum, one) => sum + one.read, 0),
  };
}

async function readBlocks(file: string): Promise<ServerBlocks> {
  for (;;) {
    const text = await readFile(file, "utf8").catch(() => "");
    if (text.endsWith("}")) return JSON.parse(text) as ServerBlocks;
    await pause(LOOK_MS);
  }
}
