import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import {
  lastRun,
  runJob,
  smallDisks,
  type LoggedRun,
} from "./vm-with-disks.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment;
// without it (TAP_TIMEOUT=0 node test/dist/backup/backup-killed.test.js) there can be many kills.
t.comment("timeout=600000");
const KILLS = Number(process.env["XO_BACKUP_KILLS"] ?? 4);
const LIMIT = { timeout: 600_000 + KILLS * 30_000 };

const SEED = Number(process.env["XO_BACKUP_SEED"] ?? Date.now() % 100_000);

/** Runs of a job that the server keeps (jobs.maxRunsPerJob). */
const KEPT_RUNS = 100;

/** A simulated pool that keeps running, and a server that can be killed and started again. */
async function setUp(t: Test) {
  const [simulated] = await simulate(t, "--hosts", "1", "--vms", "6");
  const cwd = t.testdir({
    "config.yaml": `pools: [{ label: P, hosts: ["${simulated!.url}"], password: ${simulated!.password} }]`,
  });
  return async () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    const server = new RunningProgram(t, "xo-server", args, { cwd, env });
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return { server, api: await ApiSession.open(t, url) };
  };
}

async function ended(api: ApiSession, jobId: string): Promise<LoggedRun> {
  for (;;) {
    const run = await lastRun(api, jobId);
    if (run.status !== "pending") return run;
    await pause(100);
  }
}

/** The server receives a change of a pool with a delay. */
async function untilUnblocked(api: ApiSession, vm: string): Promise<void> {
  for (;;) {
    const { blockedOperations } = await api.get(vm);
    if (Object.keys(blockedOperations as object).length === 0) return;
    await pause(100);
  }
}

/** Reproducible numbers from 0 to 1. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

t.test(
  `a server that is killed leaves nothing, and its run continues (seed ${SEED})`,
  LIMIT,
  async (t) => {
    const start = await setUp(t);
    let { server, api } = await start();
    const { id: repository } = await createRepository(t, api);
    const vm = await smallDisks(api, ["system", "data"]);
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: KILLS + 10 },
    };
    const id = String(await api.request("job.create", { job }));
    const began = Date.now();
    t.equal((await runJob(api, id)).status, "success");
    const duration = Date.now() - began;
    const next = random(SEED);
    for (let i = 0; i < KILLS; i++) {
      const at = Math.floor(next() * duration);
      await api.request("job.runNow", { id });
      await pause(at);
      await server.stop("SIGKILL");
      ({ server, api } = await start());
      const run = await ended(api, id);
      const outcome = `killed after ${at} ms: ${JSON.stringify(run)}`;
      t.equal(run.status, "success", outcome);
      await untilUnblocked(api, vm.id);
      const snapshots = await api.all({
        type: "VM-snapshot",
        $snapshot_of: vm.id,
      });
      t.equal(snapshots.length, 1, "only the base of the next backup is left");
      const { runs } = (await api.request("jobRun.list", {
        jobId: id,
        limit: 1_000,
      })) as { runs: LoggedRun[] };
      const backups = runs.flatMap(({ vms }) =>
        vms.flatMap(({ repositories = [] }) =>
          repositories.map(({ backup }) => backup),
        ),
      );
      const expected = Math.min(i + 2, KEPT_RUNS);
      t.equal(
        new Set(backups).size,
        expected,
        "each run has stored one backup",
      );
    }
    const last = await runJob(api, id);
    t.equal(last.status, "success");
    t.equal(last.vms[0]?.repositories?.[0]?.mode, "incremental");
    const stored = (await api.request("backupNg.listVmBackups", {
      remotes: [repository],
    })) as Record<string, Record<string, object[]>>;
    t.equal(stored[repository]?.[vm.id]?.length, KILLS + 2);
  },
);

t.test(
  "a snapshot of a run that has ended is deleted at the next start",
  LIMIT,
  async (t) => {
    const start = await setUp(t);
    const first = await start();
    const { id: repository } = await createRepository(t, first.api);
    const vm = await smallDisks(first.api, ["system"]);
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: 50 },
    };
    const id = String(await first.api.request("job.create", { job }));
    const run = await runJob(first.api, id);
    t.equal(run.status, "success");
    const base = await snapshotsOf(first.api, vm.id);
    const names = [
      `Backup nightly (run ${run.id})`,
      "Backup nightly (run 00000000-0000-4000-8000-000000000000)",
    ];
    for (const name of names)
      await first.api.request("vm.snapshot", { id: vm.id, name });
    await first.server.stop();

    const { api } = await start();
    let left = await snapshotsOf(api, vm.id);
    while (left.length > 2) {
      await pause(100);
      left = await snapshotsOf(api, vm.id);
    }
    t.same(
      left.map(({ id }) => id).filter((one) => one === base[0]!.id).length,
      1,
      "the base of the next backup stays",
    );
    t.ok(
      left.some(({ name_label }) => name_label === names[1]),
      "that of a run that is not known stays: another server may know it",
    );
  },
);

function snapshotsOf(api: ApiSession, vm: string) {
  return api.all({ type: "VM-snapshot", $snapshot_of: vm });
}
