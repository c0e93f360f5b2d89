import { readdir, utimes } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pick, type Random } from "../seeded-random.js";
import { FileChanges } from "./file-changes.js";
import {
  HistoryState,
  KEPT,
  type Disturbance,
  type SiteJob,
} from "./history-state.js";
import { PoolLeftovers } from "./pool-leftovers.js";
import { kill, processesIn, workersIn, workersOf } from "./processes.js";
import {
  describeMoment,
  planRound,
  type Moment,
  type RoundPlan,
  type Usual,
} from "./round-plan.js";
import { readDisks } from "./second-reader.js";
import { SiteFaults, type KillCounts } from "./site-faults.js";
import type { Site, SiteRepository } from "./site.js";

const MIB = 2 ** 20;
/** Exit code of a server that did not stop within its limit. */
const STOP_TIMEOUT = 124;
/** Load average above which that is no finding: eight processes for each CPU. */
const MAX_LOAD = 8 * availableParallelism();
/** JSON of no tasks. */
const NONE = "[]";
/** Time in which a run that has not ended shows some progress, in ms. */
const PROGRESS_MS = 300_000;
/** Time in which what a killed server has left is removed, in ms. */
const REMOVED_MS = 60_000;

/** A server with backup jobs that is killed, with its workers, again and again. */
export class BackupKillBench {
  readonly counts: KillCounts = {
    servers: 0,
    workers: 0,
    starts: 0,
    full: 0,
    gone: 0,
    coordinator: 0,
  };
  readonly state = new HistoryState();
  restoredDisks = 0;
  /** Files that the verification at the end has completed: a copy whose writing was killed, for example. */
  repaired = 0;
  readonly #site: Site;
  readonly #random: Random;
  readonly #leftovers: PoolLeftovers;
  readonly #faults: SiteFaults;
  #repositories: readonly SiteRepository[] = [];
  #copies: SiteRepository | undefined;
  #jobs: readonly SiteJob[] = [];
  #mirror = "";
  #usual: Usual = { calls: 60, files: 60 };
  #rounds = 0;

  constructor(site: Site, random: Random) {
    this.#site = site;
    this.#random = random;
    this.#leftovers = new PoolLeftovers(site.pool);
    this.#faults = new SiteFaults(site, this.counts, this.state.problems);
  }

  get kills(): number {
    const { servers, workers, starts } = this.counts;
    return servers + workers + starts;
  }

  /** Creates repositories and jobs, and runs them once. */
  async begin(): Promise<void> {
    const site = this.#site;
    await site.start();
    const folder = (name: string) => join(site.cwd, name);
    const first = await site.createRepository("first", folder("first"));
    const limited = site.limited?.path ?? folder("limited");
    const second = await site.createRepository(
      "second",
      join(limited, "repository"),
    );
    this.#copies = await site.createRepository("copies", folder("copies"));
    this.#repositories = [first, second];
    this.#faults.folder = first.folder;
    const jobs: SiteJob[] = [];
    const add = async (disks: string[], to: SiteRepository[], more = {}) => {
      const vm = await site.prepareVm(jobs.length, disks);
      const job = {
        type: "backup",
        name: `job ${jobs.length}`,
        vms: [vm.id],
        repositories: to.map(({ id }) => id),
        retention: { keepLast: KEPT },
        ...more,
      };
      const id = String(await site.request("job.create", { job }));
      jobs.push({ id, vm, repositories: to });
    };
    await add(["one"], [first]);
    await add(["two", "three"], [first, second]);
    await add(["purged"], [first], { purgeSnapshotData: true });
    this.#jobs = jobs;
    const job = {
      type: "mirrorBackup",
      name: "copies",
      source: first.id,
      repositories: [this.#copies.id],
      retention: { keepLast: 3 },
    };
    this.#mirror = String(await site.request("job.create", { job }));
    await this.#leftovers.begin();
    await this.#undisturbed();
    const files = await FileChanges.start(this.#watched);
    site.proxy.arm();
    await this.#undisturbed();
    this.#usual = {
      calls: site.proxy.count / jobs.length,
      files: files.count / jobs.length,
    };
    files.stop();
  }

  /** Runs some jobs, with a kill or a fault at a random moment, and checks what is left. @returns what was done */
  async round(): Promise<string> {
    const plan = planRound(this.#random, this.#jobs.length, this.#usual);
    const number = ++this.#rounds;
    const jobs = plan.jobs.map((nth) => this.#jobs[nth]!);
    await this.#write(jobs);
    const workersBefore = this.counts.workers;
    const done: string[] = [];
    const heal = await this.#disturb(plan, jobs, done);
    await this.#untilIdle();
    await heal();
    await this.#untilIdle();
    const by: Disturbance = {
      mayFail: this.counts.workers > workersBefore || plan.fault !== undefined,
      description: `round ${number}: ${done.join(", ")}`,
    };
    await this.#check(by);
    return by.description;
  }

  /** Runs all jobs undisturbed, verifies the repositories, and restores all backups with the second reader. */
  async end(): Promise<void> {
    await this.#undisturbed();
    const { problems } = this.state;
    for (const repository of [...this.#repositories, this.#copies!]) {
      const { id, folder } = repository;
      await this.#collectTemporary(repository);
      const report = (await this.#site.request("backupRepository.verify", {
        id,
        all: true,
      })) as { findings: unknown[]; unknownFiles: unknown[]; repaired: number };
      const { findings, unknownFiles, repaired } = report;
      this.repaired += repaired;
      if (findings.length + unknownFiles.length > 0)
        problems.push(`verification of ${folder}: ${JSON.stringify(report)}`);
      await this.#readAll(repository);
    }
    const code = await this.#site.stop();
    // A server without CPU time does not stop within its limit: everything was checked before.
    const isStarved = code === STOP_TIMEOUT && loadavg()[0]! > MAX_LOAD;
    if (code !== 0 && !isStarved)
      problems.push(`exit code ${code}: ${this.#site.output}`);
    await this.#untilNone("processes", () => processesIn(this.#site.cwd));
  }

  /** What a killed process was writing is removed by a collection of garbage a day later. */
  async #collectTemporary({ id, folder }: SiteRepository): Promise<void> {
    const temporary = join(folder, "tmp");
    const yesterday = Date.now() / 1000 - 2 * 86_400;
    for (const name of await readdir(temporary))
      await utimes(join(temporary, name), yesterday, yesterday);
    await this.#site.request("backupRepository.collectGarbage", { id });
    const left = await readdir(temporary);
    if (left.length > 0)
      this.state.problems.push(`${temporary}: ${left.join(", ")}`);
  }

  /** Compares all that the second reader finds with what the VMs had. */
  async #readAll({ id, folder, recoveryKey }: SiteRepository): Promise<void> {
    const { backups, contents, lost } = this.state;
    const read = await readDisks(folder, recoveryKey);
    const found = new Set(read.map(({ backup }) => `${id}/${backup}`));
    for (const key of backups.keys())
      if (key.startsWith(`${id}/`) && !found.has(key))
        lost.push(`the second reader does not find backup ${key}`);
    for (const { backup, label = "", hash = "", error } of read) {
      this.restoredDisks++;
      const expected = backups.get(`${id}/${backup}`)?.contents.get(label);
      // Copies, and what was not acknowledged, have one of the contents that the disk has had.
      const isRight =
        expected === undefined
          ? contents.get(label)?.has(hash) === true
          : hash === expected;
      if (error !== undefined) lost.push(error);
      else if (!isRight) lost.push(`wrong content: ${backup}, disk ${label}`);
    }
  }

  get #watched(): readonly string[] {
    const folders = this.#repositories.map(({ folder }) => folder);
    return [...folders, join(this.#site.cwd, "data")];
  }

  async #undisturbed(): Promise<void> {
    await this.#write(this.#jobs);
    for (const { id } of [...this.#jobs, { id: this.#mirror }])
      await this.#site.request("job.runNow", { id });
    await this.#untilIdle();
    await this.#check({ mayFail: false, description: "undisturbed" });
  }

  async #write(jobs: readonly SiteJob[]): Promise<void> {
    for (const { vm } of jobs)
      for (const [name, uuid] of vm.disks) {
        await this.#site.pool.write(uuid, MIB / 4, this.#random(2 ** 30));
        this.state.noteContent(name, await this.#site.pool.hash(uuid));
      }
  }

  /** @returns what ends the fault */
  async #disturb(
    plan: RoundPlan,
    jobs: readonly SiteJob[],
    done: string[],
  ): Promise<() => Promise<void>> {
    const site = this.#site;
    let heal = () => Promise.resolve();
    const reached = await this.#at(plan.moment, plan.kills === "server", () => {
      done.push(describeMoment(plan.moment));
      if (plan.fault !== undefined) heal = this.#faults.begin(plan.fault, done);
      if (plan.kills === "server" || plan.kills === "both") {
        kill(site.pid);
        this.counts.servers++;
        done.push("server killed");
      }
    });
    for (const { id } of jobs) await site.request("job.runNow", { id });
    if (plan.isVerified) this.#begin("backupRepository.verify", done);
    if (plan.isVerified) this.#begin("backupRepository.collectGarbage", done);
    if (this.#random(3) === 0)
      await site.request("job.runNow", { id: this.#mirror });
    const isReached = await this.#reachedOrIdle(reached.promise);
    reached.stop();
    if (isReached && plan.kills !== "server" && plan.kills !== "none")
      await this.#killWorkers(done);
    if (this.#random(2) === 0) {
      await heal();
      heal = () => Promise.resolve();
    }
    if (isReached && (plan.kills === "server" || plan.kills === "both")) {
      await site.kill();
      for (const moment of plan.startKills) await this.#killStart(moment, done);
      await site.start();
    }
    return heal;
  }

  /** Its result does not matter: what it may damage is found later. */
  #begin(method: string, done: string[]): void {
    const { id } = pick(this.#random, this.#repositories);
    done.push(method);
    void this.#site.request(method, { id }).catch(() => undefined);
  }

  async #killStart(moment: Moment, done: string[]): Promise<void> {
    const site = this.#site;
    site.launch();
    const reached = await this.#at(moment, true, () => {
      if (kill(site.pid)) this.counts.starts++;
      done.push(`start killed ${describeMoment(moment)}`);
    });
    const isReached = await Promise.race([
      reached.promise.then(() => true),
      pause(20_000, false, { ref: false }),
    ]);
    reached.stop();
    if (!isReached) {
      this.counts.starts++;
      done.push("started, then killed");
    }
    await site.kill();
  }

  /** One to three times, as soon as there are workers. */
  async #killWorkers(done: string[]): Promise<void> {
    let times = 1 + this.#random(3);
    const end = Date.now() + 5_000;
    for (; times > 0 && Date.now() < end; await pause(20)) {
      const workers = await workersOf(this.#site.pid);
      const killed = workers.filter((pid) => kill(pid));
      this.counts.workers += killed.length;
      if (killed.length === 0) continue;
      done.push(`${killed.length} workers killed`);
      times--;
      await pause(this.#random(500));
    }
  }

  /** Calls `act` at a moment, without any delay. */
  async #at(
    { of, at, position }: Moment,
    isLost: boolean,
    act: () => void,
  ): Promise<{ readonly promise: Promise<void>; readonly stop: () => void }> {
    let reach = () => undefined as void;
    const promise = new Promise<void>((resolve) => (reach = resolve));
    const fire = () => {
      act();
      reach();
    };
    const { proxy } = this.#site;
    if (of === "call") {
      proxy.arm({ at, position, isLost, fire });
      return { promise, stop: () => proxy.arm() };
    }
    const changes = await FileChanges.start(this.#watched, at, fire);
    return { promise, stop: () => changes.stop() };
  }

  async #reachedOrIdle(reached: Promise<void>): Promise<boolean> {
    const isReached = reached.then(() => true);
    for (;;) {
      const idle = pause(500).then(() => this.#isIdle());
      if (await Promise.race([isReached, idle.then(() => false)])) return true;
      if (await idle) return false;
    }
  }

  /** @returns JSON of the tasks that have not ended */
  async #pending(): Promise<string> {
    return JSON.stringify(
      await this.#site.request("task.list", { pending: true }),
    );
  }

  async #isIdle(): Promise<boolean> {
    return (await this.#pending()) === NONE;
  }

  /** @throws Error: a run neither ends nor proceeds */
  async #untilIdle(): Promise<void> {
    let before = "";
    let end = Infinity;
    for (;;) {
      const tasks = await this.#pending();
      if (tasks === NONE) return;
      if (tasks !== before) end = Date.now() + PROGRESS_MS;
      else if (Date.now() > end) throw new Error(`not ended: ${tasks}`);
      before = tasks;
      await pause(200);
    }
  }

  async #check(by: Disturbance): Promise<void> {
    for (const job of this.#jobs)
      await this.state.readRuns(this.#site, job, by);
    for (const repository of this.#repositories)
      await this.state.compare(this.#site, repository, by);
    await this.#untilNone(`left over, ${by.description}`, () =>
      this.#leftovers.find(this.state, this.#jobs),
    );
    const workers = () => workersIn(this.#site.cwd);
    await this.#untilNone(`workers, ${by.description}`, workers);
  }

  async #untilNone(
    what: string,
    find: () => Promise<readonly unknown[]>,
  ): Promise<void> {
    let found = await find();
    for (const end = Date.now() + REMOVED_MS; found.length > 0;) {
      if (Date.now() > end) break;
      await pause(200);
      found = await find();
    }
    if (found.length > 0)
      this.state.problems.push(`${what}: ${found.map(String).join("; ")}`);
  }
}
