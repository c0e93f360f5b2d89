import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testJobs(t: Test, harness: StoreHarness) {
  t.test("a job is stored, changed and deleted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const job = await store.jobs.create({
      name: "nightly",
      type: "call",
      userId: "u",
      body: { method: "vm.snapshot" },
    });
    await store.jobs.update(job.id, { name: "daily", body: { vms: [] } });
    const again = await bench.open();
    t.same(again.jobs.get(job.id), {
      ...job,
      name: "daily",
      body: { vms: [] },
    });
    t.equal(again.jobs.size, 1);
    await again.jobs.delete(job.id);
    t.same([...again.jobs.list()], []);
  });

  t.test("secrets of a job are encrypted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const { id } = await store.jobs.create({
      name: "j",
      type: "call",
      body: {},
      secret: { "/password": "JOBSECRET" },
    });
    t.notMatch(await bench.dump(), "JOBSECRET");
    t.notMatch(JSON.stringify(store.jobs.get(id)), "JOBSECRET");
    await store.rotateKey();
    const again = await bench.open();
    t.same(again.jobs.secret(id), { "/password": "JOBSECRET" });
    await again.jobs.update(id, { name: "k" });
    t.ok(again.jobs.secret(id), "another change leaves it");
    await again.jobs.update(id, { secret: undefined });
    t.equal(again.jobs.secret(id), undefined);
    t.equal(again.jobs.secret("absent"), undefined);
  });

  t.test("deleting a job deletes its schedules", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const job = await store.jobs.create({ name: "j", type: "call", body: {} });
    const other = await store.jobs.create({
      name: "k",
      type: "call",
      body: {},
    });
    const night = await store.schedules.create({
      jobId: job.id,
      name: "night",
      cron: "0 2 * * *",
      timezone: "Europe/Paris",
      missedLimitMs: 3_600_000,
    });
    t.match(night, { enabled: true, missed: "once", overlap: "skip" });
    const noon = await store.schedules.create({
      jobId: job.id,
      cron: "0 12 * * *",
      enabled: false,
      missed: "skip" as const,
      overlap: "queue" as const,
    });
    const kept = await store.schedules.create({
      jobId: other.id,
      cron: "0 1 * * *",
    });
    const again = await bench.open();
    t.same(again.schedules.get(noon.id), noon);
    t.same(new Set(again.schedules.ofJob(job.id)), new Set([night, noon]));
    bench.clock.advance(5);
    const changed = await again.schedules.update(night.id, {
      timezone: undefined,
      cron: "0 3 * * *",
    });
    t.notOk("timezone" in changed);
    t.match(changed, { cron: "0 3 * * *", updatedAt: night.updatedAt + 5 });
    await again.schedules.delete(noon.id);
    t.equal(again.schedules.size, 2);
    await again.jobs.delete(job.id);
    t.same([...again.schedules.list()], [kept]);
    await t.rejects(
      again.schedules.create({ jobId: job.id, cron: "* * * * *" }),
      { code: "NO_SUCH_OBJECT" },
    );
  });

  t.test(
    "a mark starts at the creation of its schedule, and only one server moves it",
    async (t) => {
      const bench = await createBench(t, harness);
      const one = await bench.open();
      const two = await bench.open();
      const job = await one.jobs.create({ name: "j", type: "call", body: {} });
      const start = bench.clock.now();
      const { id } = await one.schedules.create({
        jobId: job.id,
        cron: "@daily",
      });
      await two.refresh();
      t.same([...(await two.schedules.marks())], [[id, start]]);
      const moved = await Promise.all(
        [one, two].map((store) =>
          store.schedules.moveMark(id, start, start + 9),
        ),
      );
      t.same(moved.toSorted(), [false, true]);
      t.equal((await one.schedules.marks()).get(id), start + 9);
      bench.clock.advance(1_000);
      await one.schedules.update(id, { enabled: true });
      t.equal((await one.schedules.marks()).get(id), start + 1_000);
    },
  );

  t.test("the mark of an imported schedule is now", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const job = await store.jobs.create({ name: "j", type: "call", body: {} });
    const { id } = await store.schedules.create({
      jobId: job.id,
      cron: "@daily",
    });
    await bench.query("delete from schedule_marks");
    bench.clock.advance(60_000);
    t.same([...(await store.schedules.marks())], [[id, bench.clock.now()]]);
    bench.clock.advance(60_000);
    t.same(
      [...(await store.schedules.marks())],
      [[id, bench.clock.now() - 60_000]],
    );
  });
}
