import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { XoError } from "@xo-server/model";
import { openStore, type JobRun, type Store } from "@xo-server/store";
import t, { type Test } from "tap";
import type { InterruptedTask } from "../src/tasks/interrupted-task.js";
import type { KindRun } from "../src/jobs/job-kind.js";
import type { RunOutcome } from "../src/jobs/run-outcome.js";
import { Runs } from "../src/jobs/runs.js";
import { HeldLease } from "../src/cluster/held-lease.js";
import { Scheduler, type SchedulerOptions } from "../src/jobs/scheduler.js";
import { untrackedTask, type TaskContext } from "../src/tasks/task-context.js";
import { cheapCosts } from "./cheap-costs.js";
import { FakeClock } from "./fake-clock.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Of a run that is under way: how it ends is the test's to say. */
interface Going {
  readonly server: string;
  readonly work: TaskContext;
  readonly end: (status?: RunOutcome["status"]) => void;
}

/** A machine with a server on a store that it shares; all share one clock, at 6:00 UTC on November 21, 2026. */
class Machine {
  readonly clock = new FakeClock();
  readonly going: Going[] = [];
  /** Of every run that has begun. */
  readonly results: Promise<unknown>[] = [];
  readonly servers: Server[] = [];
  /** Under which runs are executed; absent: there is no other server. */
  lease: HeldLease | undefined;
  begun = 0;
  /** Runs end at once, unless the test wants to see them. */
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

class Server {
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

const times = (runs: readonly JobRun[]) =>
  runs.map(({ dueAt }) => new Date(dueAt!).toISOString().slice(8, 16));
const statuses = (runs: readonly JobRun[]) => runs.map(({ status }) => status);

/** Until it is so; what is waited for is the store's thread. */
async function until(test: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await test())) await new Promise(setImmediate);
}

t.test("a job is done at its times, once each", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  const jobId = await one.addJob();
  const { id } = await one.store.schedules.create({
    jobId,
    cron: "*/20 * * * *",
    timezone: "UTC",
  });
  await machine.settle();
  await machine.pass(HOUR + MINUTE);
  const runs = await one.log();
  t.same(times(runs), ["21T06:20", "21T06:40", "21T07:00"]);
  t.match(runs[0], { status: "success", scheduleId: id, userId: "u" });
  await one.store.schedules.update(id, { enabled: false });
  await machine.pass(HOUR);
  t.equal(machine.begun, 3);
  await one.store.schedules.update(id, { enabled: true });
  await machine.settle();
  t.equal(machine.begun, 3, "what it was off for is not made up for");
  await machine.pass(20 * MINUTE);
  t.equal(machine.begun, 4);
});

t.test("of two servers on one store, one runs the job", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start("one");
  const two = await machine.start("two");
  const jobId = await one.addJob();
  await one.store.schedules.create({ jobId, cron: "* * * * *" });
  await two.store.refresh();
  await machine.settle();
  await machine.pass(40 * MINUTE);
  const runs = await one.log();
  t.equal(runs.length, 40);
  t.equal(new Set(times(runs)).size, 40);
  t.equal(machine.begun, 40);
});

t.test("one missed run is repeated after a restart", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  const jobId = await one.addJob();
  const hourly = { jobId, cron: "0 * * * *", timezone: "UTC" };
  await one.store.schedules.create(hourly);
  await machine.settle();
  await one.stop();
  machine.servers.length = 0;
  machine.clock.pass(3 * DAY + 10 * MINUTE);
  const again = await machine.start();
  t.same(times(await again.log()), ["24T06:00"]);
  await machine.pass(HOUR);
  t.same(times(await again.log()), ["24T06:00", "24T07:00"]);
});

t.test("missed runs are skipped if configured, and reported", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  const never = { cron: "0 2 * * *", timezone: "UTC", missed: "skip" } as const;
  const young = { ...never, missed: "once", missedLimitMs: 2 * HOUR } as const;
  await one.store.schedules.create({ ...never, jobId: await one.addJob() });
  await one.store.schedules.create({ ...young, jobId: await one.addJob() });
  await machine.settle();
  await machine.sleep(DAY);
  const runs = await one.log();
  t.same(statuses(runs), ["skipped", "skipped"]);
  t.same(times(runs), ["22T02:00", "22T02:00"]);
  t.match(runs[0]?.body, { reason: /no server was running/ });
  t.equal(machine.begun, 0);
  // 3:30: an hour and a half late.
  await machine.sleep(21 * HOUR + 30 * MINUTE);
  t.same(statuses(await one.log()).toSorted(), [
    ...["skipped", "skipped", "skipped", "success"],
  ]);
});

t.test("a job that is still being done is not begun again", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start("one");
  const two = await machine.start("two");
  machine.isSlow = true;
  const jobId = await one.addJob();
  await one.store.schedules.create({ jobId, cron: "*/5 * * * *" });
  await two.store.refresh();
  await machine.settle();
  await machine.pass(11 * MINUTE);
  t.same(statuses(await one.log()), ["pending", "skipped"]);
  t.match((await one.log())[1]?.body, { reason: /under way/ });
  machine.going[0]!.end("partial");
  await until(async () => (await one.log())[0]?.status === "partial");
  await machine.pass(5 * MINUTE);
  t.same(statuses(await one.log()), ["partial", "skipped", "pending"]);
});

t.test("a run waits if configured, and starts after the other", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  machine.isSlow = true;
  const jobId = await one.addJob();
  const queue = { jobId, cron: "*/5 * * * *", overlap: "queue" } as const;
  await one.store.schedules.create(queue);
  await machine.settle();
  await machine.pass(16 * MINUTE);
  t.same(statuses(await one.log()), ["pending", "queued", "skipped"]);
  machine.going[0]!.end();
  await until(() => machine.going.length === 2);
  t.same(statuses(await one.log()).toSorted(), [
    ...["pending", "skipped", "success"],
  ]);
});

t.test(
  "a run whose server died is interrupted, and the next one runs",
  async (t) => {
    const machine = await Machine.create(t);
    const one = await machine.start("one");
    machine.isSlow = true;
    const jobId = await one.addJob();
    await one.store.schedules.create({ jobId, cron: "*/5 * * * *" });
    await machine.settle();
    await machine.pass(5 * MINUTE);
    t.equal(machine.going.length, 1);
    // As `kill -9`: nothing is written any more.
    await one.stop();
    machine.servers.length = 0;
    const two = await machine.start("two");
    t.same(statuses(await two.log()), ["pending"], "it may be alive");
    const [left] = await two.log();
    // As the adoption of its tasks does.
    await two.runs.interrupt({ ids: [left!.id] }, []);
    await machine.pass(4 * MINUTE);
    t.same(statuses(await two.log()), ["interrupted"]);
    await machine.pass(MINUTE);
    t.same(statuses(await two.log()), ["interrupted", "pending"]);
  },
);

t.test(
  "a run whose type is resumable continues with the next process",
  async (t) => {
    const machine = await Machine.create(t);
    machine.isSlow = machine.isResumable = true;
    const one = await machine.start("one");
    const jobId = await one.addJob();
    const begun = await one.runs.begin({ jobId, jobName: "j" });
    begun?.ended?.catch(() => undefined);
    await until(() => machine.going.length === 1);
    await one.runs.stop();
    t.same(statuses(await one.log()), ["pending"], "it is not given up");
    await one.stop();
    machine.servers.length = 0;

    const again = await machine.start("one");
    const interrupted: InterruptedTask = {
      steps: new Map(),
      awaitOutcomes: () => Promise.resolve([]),
    };
    const state = { runId: begun!.run.id };
    const work = { ...untrackedTask, taskId: "task of one" };
    const ended = again.runs.resume(state, work, interrupted);
    await until(() => machine.going.length === 2);
    t.same(machine.resumed, [false, true]);
    machine.going[1]!.end();
    t.match(await ended, { status: "success" });
    t.same(statuses(await again.log()), ["success"]);
    await t.rejects(again.runs.resume(state, work, interrupted), {
      code: "INTERRUPTED",
    });
  },
);

t.test("only the server that adopted a run writes its outcome", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start("one");
  const { leases } = one.store;
  const take = (owner: string) =>
    leases.take("server/one", { owner, instance: owner }, 0);
  machine.lease = new HeldLease((await take("one"))!, machine.clock, Infinity);
  machine.isSlow = true;
  const jobId = await one.addJob();
  const begun = await one.runs.begin({ jobId, jobName: "j" });
  await until(() => machine.going.length === 1);
  await take("two");
  machine.going[0]!.end();
  await begun!.ended;
  t.same(statuses(await one.log()), ["pending"]);
});

t.test(
  "a server that lost its lease interrupts its runs that no other server has adopted",
  async (t) => {
    const machine = await Machine.create(t);
    const one = await machine.start("one");
    const { leases, adoptions } = one.store;
    const take = async (owner: string) =>
      (await leases.take("server/one", { owner, instance: owner }, 0))!;
    const lose = async () => {
      machine.lease = new HeldLease(await take("one"), machine.clock, Infinity);
      machine.isSlow = true;
      const before = machine.going.length;
      const jobId = await one.addJob();
      const begun = await one.runs.begin({ jobId, jobName: "j" });
      await until(() => machine.going.length > before);
      const taken = await take("two");
      machine.lease.lose();
      machine.going.at(-1)!.end();
      await begun!.ended;
      return { taken, id: begun!.run.id };
    };
    const statusOf = async (id: string) =>
      (await one.store.jobRuns.get(id))?.status;

    const abandoned = await lose();
    await one.runs.interruptDropped([]);
    t.equal(await statusOf(abandoned.id), "interrupted");

    const resumed = await lose();
    await one.runs.interruptDropped([resumed.id]);
    t.equal(await statusOf(resumed.id), "pending");

    const adopted = await lose();
    await adoptions.adopt("one", "two", [adopted.taken]);
    await one.runs.interruptDropped([]);
    t.equal(await statusOf(adopted.id), "pending", "it is that of server two");
  },
);

/** While it is unavailable, no outcome can be written to the database. */
function loseDatabase({ store }: Server): () => void {
  const { jobRuns } = store;
  const own = jobRuns.write.bind(jobRuns);
  jobRuns.write = () =>
    Promise.reject(new XoError("STORE_UNAVAILABLE", { reason: "cut off" }));
  return () => {
    jobRuns.write = own;
  };
}

t.test(
  "an outcome that could not be written is written later, by a server without the schedules too",
  async (t) => {
    const machine = await Machine.create(t);
    const one = await machine.start("one");
    await one.scheduler.stop();
    machine.isSlow = true;
    const jobId = await one.addJob();
    const begun = await one.runs.begin({ jobId, jobName: "j" });
    await until(() => machine.going.length === 1);
    const findDatabase = loseDatabase(one);
    machine.going[0]!.end();
    await begun!.ended;
    machine.clock.pass(5_000);
    await until(() => one.warnings.length === 2);
    t.same(statuses(await one.log()), ["pending"]);
    findDatabase();
    await until(async () => {
      machine.clock.pass(5_000);
      return (await one.log())[0]?.status !== "pending";
    });
    t.same(statuses(await one.log()), ["success"]);
  },
);

t.test(
  "a run whose outcome could not be written before the lease was lost is interrupted, and the next one runs",
  async (t) => {
    const machine = await Machine.create(t);
    const one = await machine.start("one");
    const { leases } = one.store;
    const take = async () =>
      (await leases.take("server/one", { owner: "one", instance: "1" }, 0))!;
    const lease = new HeldLease(await take(), machine.clock, Infinity);
    machine.lease = lease;
    machine.isSlow = true;
    const jobId = await one.addJob();
    await one.store.schedules.create({ jobId, cron: "*/5 * * * *" });
    await machine.settle();
    await machine.pass(5 * MINUTE);
    const findDatabase = loseDatabase(one);
    machine.going[0]!.end();
    await until(() => one.warnings.length > 0);
    lease.lose();
    findDatabase();
    machine.lease = new HeldLease(await take(), machine.clock, Infinity);
    await one.runs.interruptDropped([]);
    t.same(statuses(await one.log()), ["interrupted"]);
    await machine.pass(5 * MINUTE);
    t.same(statuses(await one.log()), ["interrupted", "pending"]);
  },
);

t.test("only the owner of the schedules starts runs", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start("one");
  const jobId = await one.addJob();
  await one.store.schedules.create({ jobId, cron: "*/5 * * * *" });
  const { leases } = one.store;
  const take = (owner: string) =>
    leases.take("jobs", { owner, instance: owner }, 0);
  one.lease = new HeldLease((await take("one"))!, machine.clock, Infinity);
  await machine.pass(5 * MINUTE);
  t.equal(machine.begun, 1);
  await take("two");
  await machine.pass(5 * MINUTE);
  t.equal(machine.begun, 1);
  t.same(one.warnings, []);
});

t.test("a run ends when it is cancelled or times out", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start("one");
  machine.isSlow = true;
  const body = { method: "x", runTimeout: HOUR };
  const job = await one.store.jobs.create({ name: "j", type: "call", body });
  const first = await one.runs.begin({ jobId: job.id, jobName: "j" });
  await until(() => machine.going.length === 1);
  t.ok(one.runs.cancel(first!.run.id));
  t.ok(machine.going[0]!.work.signal.aborted);
  machine.going[0]!.end("aborted");
  await t.rejects(first!.ended!, { code: "ABORTED" });
  t.notOk(one.runs.cancel(first!.run.id));
  const second = await one.runs.begin({ jobId: job.id, jobName: "j" });
  await until(() => machine.going.length === 2);
  machine.clock.pass(HOUR - 1);
  t.notOk(machine.going[1]!.work.signal.aborted);
  machine.clock.pass(1);
  t.ok(machine.going[1]!.work.signal.aborted);
  machine.going[1]!.end("aborted");
  await t.rejects(second!.ended!, { code: "ABORTED" });
});

t.test("a clock that was far ahead does not stop schedules", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  const jobId = await one.addJob();
  const { id } = await one.store.schedules.create({ jobId, cron: "@hourly" });
  const mark = (await one.store.schedules.marks()).get(id)!;
  await one.store.schedules.moveMark(id, mark, mark + 400 * DAY);
  await machine.pass(MINUTE);
  t.match(one.warnings, [/in the future/]);
  await machine.pass(HOUR);
  t.equal(machine.begun, 1);
});

t.test("the number of stored runs of a job is limited", async (t) => {
  const machine = await Machine.create(t);
  const one = await machine.start();
  const jobId = await one.addJob();
  await one.store.schedules.create({ jobId, cron: "* * * * *" });
  await machine.settle();
  await machine.pass(HOUR);
  t.equal(machine.begun, 60);
  await until(async () => (await one.log()).length === 50);
});
