import { readdir, readFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import { ApiSession, PASSWORD } from "../api-session.js";
import { RunningProgram } from "../running-program.js";
import { simulate } from "../simulated.js";
import { StatusPage } from "../status-page.js";
import { createRepository } from "./repository-folders.js";
import {
  MIB,
  lastRun,
  runJob,
  smallDisks,
  type LoggedRun,
  type SmallVm,
} from "./vm-with-disks.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment;
// without it (TAP_TIMEOUT=0 node test/dist/backup/backup-killed.test.js) there can be many kills.
t.comment("timeout=600000");
const KILLS = Number(process.env["XO_BACKUP_KILLS"] ?? 4);
const LIMIT = { timeout: 600_000 + KILLS * 120_000 };

const SEED = Number(process.env["XO_BACKUP_SEED"] ?? Date.now() % 100_000);

/** A start that is killed as well: after this number of ms at most. */
const MAX_STARTING_MS = 1_500;

/** A simulated pool that keeps running, and a server that can be killed and started again. */
async function setUp(t: Test) {
  const [simulated] = await simulate(t, "--hosts", "1", "--vms", "6");
  const cwd = t.testdir({
    "config.yaml": `backups: { workerNiceness: 0 }\npools: [{ label: P, hosts: ["${simulated!.url}"], password: ${simulated!.password} }]`,
  });
  const launch = () => {
    const args = ["start", "--host", "127.0.0.1", "--port", "0"];
    const env = { XO_ADMIN_PASSWORD: PASSWORD };
    return new RunningProgram(t, "xo-server", args, { cwd, env });
  };
  const start = async () => {
    const server = launch();
    const url = await server.find(/Web server listening on (http:\S+)/);
    const page = await StatusPage.open(t, url, PASSWORD);
    await page.until(({ pools }) => pools["p"]?.state === "watching");
    return { server, api: await ApiSession.open(t, url) };
  };
  /** The VM writes to its disks: what a run then has to store. */
  const write = async ({ disks }: SmallVm, round: number) => {
    for (const [i, vdi] of disks.entries()) {
      const seed = 2 * round + i;
      const body = JSON.stringify({ vdi, pattern: "random", bytes: MIB, seed });
      const url = `${simulated!.url}/sim/write`;
      const answer = await fetch(url, { method: "POST", body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  };
  return { launch, start, write };
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

type SetUp = Awaited<ReturnType<typeof setUp>>;
type Running = Awaited<ReturnType<SetUp["start"]>>;

/** Ids of the processes that read disks and write to repositories now; empty also where the system does not list them. */
async function workersOf({ server }: Running): Promise<readonly number[]> {
  const tasks = `/proc/${server.child.pid}/task`;
  const workers: number[] = [];
  // Processes are listed with the thread that has started them. Each may have ended meanwhile.
  for (const thread of await readdir(tasks).catch(() => []))
    for (const child of (await textOf(`${tasks}/${thread}/children`)).split(
      " ",
    ))
      if ((await textOf(`/proc/${child}/cmdline`)).includes("worker-program"))
        workers.push(Number(child));
  return workers;
}

/** Content of a file, empty if it does not exist. */
function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** Kills a server or its workers at random moments of a run, and counts. */
class Kills {
  readonly #setUp: SetUp;
  readonly #next: () => number;
  /** What was killed in this round, and when. */
  #log: string[] = [];
  servers = 0;
  starts = 0;
  workers = 0;

  constructor(setUp: SetUp, next: () => number) {
    this.#setUp = setUp;
    this.#next = next;
  }

  get count(): number {
    return this.servers + this.starts + this.workers;
  }

  get description(): string {
    return this.#log.join(", ");
  }

  /** @param duration of a run, in ms @returns the server that runs at the end */
  async round(running: Running, duration: number): Promise<Running> {
    this.#log = [];
    if (this.#next() < 0.25) {
      await this.#killWorkers(running, duration);
      return running;
    }
    let current = running;
    do {
      const at = Math.floor(this.#next() * duration);
      await pause(at);
      await current.server.stop("SIGKILL");
      this.servers++;
      this.#log.push(`server after ${at} ms`);
      if (this.#next() < 0.25) await this.#killStart();
      current = await this.#setUp.start();
      // Half of the runs are continued by a server that is killed as well.
    } while (this.#next() < 0.5);
    return current;
  }

  async #killStart(): Promise<void> {
    const at = Math.floor(this.#next() * MAX_STARTING_MS);
    const server = this.#setUp.launch();
    await pause(at);
    await server.stop("SIGKILL");
    this.starts++;
    this.#log.push(`start after ${at} ms`);
  }

  /** From a random moment on, as soon as there is a worker. */
  async #killWorkers(running: Running, duration: number): Promise<void> {
    await pause(Math.floor((this.#next() * duration) / 2));
    for (const end = Date.now() + duration; Date.now() < end;) {
      const workers = await workersOf(running);
      for (const pid of workers) this.#killWorker(pid);
      if (workers.length > 0) break;
      await pause(5);
    }
  }

  #killWorker(pid: number): void {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
      return;
    }
    this.workers++;
    this.#log.push("worker");
  }
}

t.test(
  `a server or a worker that is killed leaves nothing, and its run continues (seed ${SEED})`,
  LIMIT,
  async (t) => {
    const programs = await setUp(t);
    const kills = new Kills(programs, random(SEED));
    let running = await programs.start();
    const { id: repository } = await createRepository(t, running.api);
    const vm = await smallDisks(running.api, ["system", "data"]);
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: KILLS + 10 },
    };
    const id = String(await running.api.request("job.create", { job }));
    t.equal((await runJob(running.api, id)).status, "success");
    await programs.write(vm, 0);
    const began = Date.now();
    t.equal((await runJob(running.api, id)).status, "success");
    const duration = Date.now() - began;
    let successes = 2;
    for (let round = 1; kills.count < KILLS; round++) {
      await programs.write(vm, round);
      await running.api.request("job.runNow", { id });
      const workersBefore = kills.workers;
      running = await kills.round(running, duration);
      const { api } = running;
      const run = await ended(api, id);
      const outcome = `killed: ${kills.description}: ${JSON.stringify(run)}`;
      if (kills.workers === workersBefore)
        t.equal(run.status, "success", outcome);
      else if (run.status !== "success")
        t.match(run.vms[0], { status: "failure" }, outcome);
      if (run.status === "success") successes++;
      await untilUnblocked(api, vm.id);
      t.equal(
        (await snapshotsOf(api, vm.id)).length,
        1,
        "only the base of the next backup is left",
      );
      const { runs } = (await api.request("jobRun.list", {
        jobId: id,
        limit: 1_000,
      })) as { runs: LoggedRun[] };
      const backups = runs.flatMap(({ vms }) =>
        vms.flatMap(({ repositories = [] }) =>
          repositories.flatMap(({ backup }) => backup ?? []),
        ),
      );
      t.equal(
        new Set(backups).size,
        runs.filter(({ status }) => status === "success").length,
        "each run that succeeded has stored one backup",
      );
    }
    const { servers, starts, workers } = kills;
    t.comment(
      `killed: ${servers} servers, ${starts} starts, ${workers} workers`,
    );
    const last = await runJob(running.api, id);
    t.equal(last.status, "success");
    t.equal(last.vms[0]?.repositories?.[0]?.mode, "incremental");
    const stored = (await running.api.request("backupNg.listVmBackups", {
      remotes: [repository],
    })) as Record<string, Record<string, object[]>>;
    t.equal(stored[repository]?.[vm.id]?.length, successes + 1);
    t.match(
      await running.api.request("backupRepository.verify", {
        id: repository,
        all: true,
      }),
      { backups: successes + 1, repaired: 0, findings: [], unknownFiles: [] },
      "all that is stored is whole",
    );
  },
);

t.test(
  "a snapshot of a run that has ended is deleted at the next start",
  LIMIT,
  async (t) => {
    const { start } = await setUp(t);
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
