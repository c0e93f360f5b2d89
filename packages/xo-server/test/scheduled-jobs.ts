import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type JobRun, type Store } from "@xo-server/store";
import type { Test } from "tap";
import type { KindRun } from "../src/jobs/job-kind.js";
import type { RunOutcome } from "../src/jobs/run-outcome.js";
import { Runs } from "../src/jobs/runs.js";
import { HeldLease } from "../src/cluster/held-lease.js";
import { Scheduler, type SchedulerOptions } from "../src/jobs/scheduler.js";
import { untrackedTask, type TaskContext } from "../src/tasks/task-context.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";

export const MINUTE = 60_000;

/** Of a run that is under way: how it ends is the test's to say. */
interface Going {
  readonly server: string;
  readonly work: TaskContext;
  readonly end: (status?: RunOutcome["status"]) => void;
}

/** A machine with a server on a store that it shares; all share one clock, at 6:00 UTC on November 21, 2026. */
export class Machine {
  readonly clock = new FakeClock();
  readonly going: Going[] = [];
  /** Of every run that has begun. */
  readonly results: Promise<unknown>[] = [];
  readonly servers: Server[] = [];
  /** Under which runs are executed; absent: there is no other server. */
  lease: HeldLease | undefined;
  begun = 0;
  /** Runs end at once, unless the test observes them. */
  isSlow = false;
  /** Runs persist their state, and are resumed after a restart. */
  isResumable = false;
  /** Of every run: whether it was resumed. */
  readonly resumed: boolean[] = [];
  readonly #folder: string;

  static async create(t: Test): Promise<Machine> {
    const folder = await mkdtemp(join(tmpdir(), "jobs-"));
    const machine = new Machine(folder);
    t.teardown(async () => {
      for (const server of machine.servers) await server.stop();
      await rm(folder, { recursive: true, force: true });
    });
    return machine;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  async start(name = "one"): Promise<Server> {
    const store = await openStore({
      location: join(this.#folder, "store.db"),
      key: { file: join(this.#folder, "store.key") },
      ...cheapCosts,
      clock: this.clock,
    });
    const server = new Server(this, name, store);
    this.servers.push(server);
    await server.runs.beginQueued();
    server.scheduler.wake();
    await this.settle();
    return server;
  }

  /** All servers have done what there is to do. */
  async settle(): Promise<void> {
    for (const { scheduler } of this.servers) await scheduler.idle();
    if (this.isSlow)
      await until(() => this.going.length === this.results.length);
    else await Promise.allSettled(this.results);
  }

  /** Time passes in steps that timers can follow. */
  async pass(ms: number, step = 30_000): Promise<void> {
    for (let left = ms; left > 0; left -= step) {
      this.clock.pass(Math.min(step, left));
      await this.settle();
    }
  }

  /** The machine was suspended or off meanwhile. */
  async sleep(ms: number): Promise<void> {
    this.clock.pass(ms);
    await this.settle();
  }
}

export class Server {
  readonly store: Store;
  readonly runs: Runs;
  readonly scheduler: Scheduler;
  /** On all schedules; absent: there is no other server. */
  lease: HeldLease | undefined;
  readonly warnings: string[] = [];

  constructor(machine: Machine, owner: string, store: Store) {
    this.store = store;
    const { clock } = machine;
    const warn = (message: string) => this.warnings.push(message);
    const logger = { info: () => undefined, warn };
    const runner = {
      isResumable: () => machine.isResumable,
      run: ({ work, interrupted }: KindRun) => {
        machine.resumed.push(interrupted !== undefined);
        machine.begun++;
        const done: RunOutcome = { status: "success", body: {} };
        if (!machine.isSlow) return Promise.resolve(done);
        return new Promise<RunOutcome>((resolve) => {
          machine.going.push({
            server: owner,
            work,
            end: (status = "success") => {
              resolve({ status, body: {} });
            },
          });
        });
      },
    };
    const tasks = {
      run: async <T>(_: unknown, run: (work: TaskContext) => Promise<T>) => {
        const result = run({
          ...untrackedTask,
          taskId: `task of ${owner}`,
          lease: machine.lease,
        });
        result.catch(() => undefined);
        machine.results.push(result);
        return { id: "task", result };
      },
    };
    const keep = { ofJob: 50, ofAll: 1_000 };
    this.runs = new Runs({
      store,
      runner,
      tasks,
      owner,
      clock,
      logger,
      keep,
    });
    const lease = () => this.lease;
    this.scheduler = new Scheduler({
      store,
      runs: this.runs,
      get lease() {
        return lease();
      },
      clock,
      logger,
    } as SchedulerOptions);
  }

  async addJob(): Promise<string> {
    const job = { name: "j", type: "call", body: { method: "x" }, userId: "u" };
    return (await this.store.jobs.create(job)).id;
  }

  /** Oldest first. */
  async log(): Promise<readonly JobRun[]> {
    return (await this.store.jobRuns.list()).runs.toReversed();
  }

  async stop(): Promise<void> {
    await this.scheduler.stop();
    await this.store.close();
  }
}
export const statuses = (runs: readonly JobRun[]) =>
  runs.map(({ status }) => status);

/** Until the condition holds; the thread of the database needs the CPU meanwhile. */
export async function until(
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  while (!(await condition()))
    await new Promise((resolve) => setTimeout(resolve, 1));
}
