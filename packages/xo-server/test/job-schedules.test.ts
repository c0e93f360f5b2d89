import type { JobRun } from "@xo-server/store";
import t from "tap";
import { Machine, until, MINUTE, statuses } from "./scheduled-jobs.js";

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const times = (runs: readonly JobRun[]) =>
  runs.map(({ dueAt }) => new Date(dueAt!).toISOString().slice(8, 16));

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
    "skipped",
    "skipped",
    "skipped",
    "success",
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
    "pending",
    "skipped",
    "success",
  ]);
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
