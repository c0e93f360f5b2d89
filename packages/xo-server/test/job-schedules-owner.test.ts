import { XoError } from "@xo-server/model";
import t from "tap";
import type { InterruptedTask } from "../src/tasks/interrupted-task.js";
import { HeldLease } from "../src/cluster/held-lease.js";
import { untrackedTask } from "../src/tasks/task-context.js";
import { Machine, Server, until, MINUTE, statuses } from "./scheduled-jobs.js";

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

t.test(
  "a run whose server died before it did anything begins again",
  async (t) => {
    const machine = await Machine.create(t);
    machine.isSlow = machine.isResumable = true;
    const one = await machine.start("one");
    const start = { jobId: await one.addJob(), jobName: "j", owner: "one" };
    // As `kill -9` before the task of the run is recorded.
    const begun = await one.store.jobRuns.begin(start);
    await one.stop();
    machine.servers.length = 0;
    const again = await machine.start("one");
    await again.runs.abandon({ owner: "one" }, []);
    t.same(statuses(await again.log()), ["queued"]);
    await again.runs.beginQueued();
    await until(() => machine.going.length === 1);
    const [run] = await again.log();
    t.match(run, { id: begun!.id, status: "pending" });
    await again.runs.abandon({ owner: "one" }, [begun!.id]);
    t.same(statuses(await again.log()), ["pending"], "it is under way");
    machine.going[0]!.end();
    await Promise.all(machine.results);
    t.same(statuses(await again.log()), ["success"]);
  },
);

t.test(
  "a run does not begin again that may have done something, has settings of its own, or is not resumable",
  async (t) => {
    const machine = await Machine.create(t);
    const one = await machine.start("one");
    const begin = async (hasChoice: boolean, taskId?: string) => {
      const jobId = await one.addJob();
      const start = { jobId, jobName: "j", owner: "one", hasChoice };
      const { id } = (await one.store.jobRuns.begin(start))!;
      const write = { status: "pending", ...(taskId && { taskId }) } as const;
      await one.store.jobRuns.write(id, write);
    };
    machine.isResumable = true;
    await begin(false, "task");
    await begin(true);
    await one.runs.abandon({ owner: "one" }, []);
    t.same(statuses(await one.log()), ["interrupted", "interrupted"]);
    machine.isResumable = false;
    await begin(false);
    await one.runs.abandon({ owner: "one" }, []);
    t.same(statuses(await one.log()), Array(3).fill("interrupted"));
  },
);

t.test(
  "a run of a version that did not record whether it has settings of its own does not begin again",
  async (t) => {
    const machine = await Machine.create(t);
    machine.isResumable = true;
    const one = await machine.start("one");
    const start = { jobId: await one.addJob(), jobName: "j", owner: "one" };
    const { id } = (await one.store.jobRuns.begin(start))!;
    const { body } = (await one.store.jobRuns.get(id))!;
    t.same(body, {}, "clients do not see what is recorded");
    await one.store.jobRuns.write(id, { status: "pending", body: {} });
    await one.runs.abandon({ owner: "one" }, []);
    t.same(statuses(await one.log()), ["interrupted"]);
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
