import type { JobRun, RunStart, Store } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

const DUE = 1_700_000_060_000;

export async function testJobRuns(t: Test, harness: StoreHarness) {
  t.test("only one of several servers starts a run", async (t) => {
    const { stores, start } = await createJob(t, harness, 3);
    const begun = await Promise.all(
      stores.flatMap((store, i) =>
        [1, 2].map(() =>
          store.jobRuns.begin(start({ owner: `server-${i}` }, {})),
        ),
      ),
    );
    const runs = begun.filter((run) => run !== undefined);
    t.equal(runs.length, 1);
    t.match(runs[0], { status: "pending", dueAt: DUE, jobName: "j" });
    t.same((await stores[0]!.jobRuns.list()).runs, runs);
    t.equal(
      (await stores[1]!.schedules.marks()).get(runs[0]!.scheduleId!),
      DUE,
    );
  });

  t.test("two schedules of one job do not overlap", async (t) => {
    const { stores, start, addSchedule } = await createJob(t, harness, 2);
    const other = await addSchedule();
    const [one, two] = await Promise.all([
      stores[0]!.jobRuns.begin(start({}, {})),
      stores[1]!.jobRuns.begin(start({}, { id: other })),
    ]);
    t.same([one?.status, two?.status].toSorted(), ["pending", "skipped"]);
    const skipped = [one, two].find((run) => run?.status === "skipped");
    t.match(skipped, { body: { reason: "a run is under way" } });
    t.ok(skipped?.endedAt);
  });

  t.test("a queued run starts after the running one", async (t) => {
    const { stores, start, jobId } = await createJob(t, harness, 2);
    const [store, second] = stores as [Store, Store];
    const first = await store.jobRuns.begin(start({}, {}));
    const at = (minutes: number) => ({
      dueAt: DUE + minutes * 60_000,
      until: DUE + minutes * 60_000,
      overlap: "queue" as const,
    });
    const waiting = await store.jobRuns.begin(start({}, at(1)));
    t.equal(waiting?.status, "queued");
    const third = await store.jobRuns.begin(start({}, at(2)));
    t.match(third, { status: "skipped", body: { reason: /another waits/ } });
    t.equal(await second.jobRuns.beginQueued("server-2"), undefined);
    await store.jobRuns.write(first!.id, { status: "success", endedAt: 1 });
    const taken = await Promise.all(
      stores.map((one, i) => one.jobRuns.beginQueued(`server-${i}`)),
    );
    t.same(
      taken.flatMap((run) => (run === undefined ? [] : [run.id])),
      [waiting?.id],
    );
    await store.jobs.delete(jobId);
    await t.rejects(store.jobRuns.begin(start({}, at(3))), {
      code: "NO_SUCH_OBJECT",
    });
  });

  t.test("a queued run of a deleted job is deleted", async (t) => {
    const { stores, start, jobId } = await createJob(t, harness);
    const { jobRuns, jobs } = stores[0]!;
    const first = await jobRuns.begin(start({}, {}));
    const later = { dueAt: DUE + 1, until: DUE + 1, overlap: "queue" } as const;
    const waiting = await jobRuns.begin(start({}, later));
    await jobRuns.write(first!.id, { status: "success", endedAt: 1 });
    await jobs.delete(jobId);
    t.equal(await jobRuns.beginQueued("server"), undefined);
    t.equal(await jobRuns.get(waiting!.id), undefined);
  });

  t.test("skipped runs are stored with the reason", async (t) => {
    const { stores, start } = await createJob(t, harness);
    const run = await stores[0]!.jobRuns.begin({
      ...start({}, {}),
      skip: "too old",
    });
    t.match(run, { status: "skipped", body: { reason: "too old" } });
  });

  t.test(
    "runs of a server that ended are interrupted or adopted",
    async (t) => {
      const { stores, bench, addJob } = await createJob(t, harness);
      const { jobRuns, adoptions, leases, tasks, balancerWatches } = stores[0]!;
      const begin = async (owner: string) =>
        (await jobRuns.begin({ jobId: await addJob(), jobName: "k", owner }))!
          .id;
      const mine = await begin("me");
      const [left, resumed] = [await begin("gone"), await begin("gone")];
      const running = await begin("other");
      const task = {
        id: "t",
        owner: "gone",
        name: "n",
        status: "pending" as const,
        startedAt: 1,
        updatedAt: 1,
        body: {},
      };
      await tasks.put(task);
      await tasks.put({ ...task, id: "ended", status: "success" });
      const as = (owner: string) => ({ owner, instance: owner });
      await leases.take("server/other", as("other"), 600_000);
      t.same(await adoptions.listOrphanOwners("me"), ["gone"]);
      const fences = [(await leases.take("server/gone", as("me"), 0))!];
      for (const owner of ["gone", "other"])
        await balancerWatches.put({ pool: owner, owner, state: "migrating" });
      const pending = await adoptions.listPending("gone");
      t.same(pending.tasks, ["t"]);
      t.same(pending.runs.toSorted(), [left, resumed].toSorted());
      const adopted = await adoptions.adopt("gone", "me", fences);
      t.same(
        adopted.tasks.map(({ id, owner }) => [id, owner]),
        [["t", "me"]],
      );
      t.same(adopted.runs.toSorted(), [left, resumed].toSorted());
      t.same(await adoptions.listOrphanOwners("me"), []);
      t.match(
        await balancerWatches.list(),
        [{ owner: "other" }],
        "its load balancers are not shown any more",
      );
      bench.clock.advance(60_000);
      const found = await jobRuns.interrupt({ ids: adopted.runs }, [resumed]);
      t.same(
        found.map(({ id, status }) => [id, status]),
        [[left, "interrupted"]],
      );
      t.equal((await jobRuns.interrupt({ owner: "me" })).length, 2);
      t.match(await jobRuns.get(mine), { endedAt: bench.clock.now() });
      t.match(await jobRuns.get(running), { status: "pending" });
      t.same(await jobRuns.interrupt({ ids: [] }), []);
      await leases.take("server/gone", as("gone"), 0);
      await t.rejects(adoptions.adopt("gone", "me", fences), {
        code: "LEASE_LOST",
      });
    },
  );

  t.test("a scheduled run is refused to an owner of the past", async (t) => {
    const { stores, start } = await createJob(t, harness);
    const { jobRuns, leases } = stores[0]!;
    const old = await leases.take("jobs", { owner: "a", instance: "a" }, 0);
    const now = await leases.take("jobs", { owner: "b", instance: "b" }, 0);
    await t.rejects(jobRuns.begin(start({}, {}), old), { code: "LEASE_LOST" });
    const run = await jobRuns.begin(start({}, {}), now);
    t.match(run, { status: "pending" });
    const end = { status: "success" } as const;
    await t.rejects(jobRuns.write(run!.id, end, old), { code: "LEASE_LOST" });
    await jobRuns.write(run!.id, end, now);
  });

  t.test("runs are listed in pages, the oldest are pruned", async (t) => {
    const { stores, bench, addJob } = await createJob(t, harness);
    const { jobRuns } = stores[0]!;
    const jobs = [await addJob(), await addJob()] as const;
    const created: JobRun[] = [];
    for (let i = 0; i < 24; i++) {
      if (i % 3 === 0) bench.clock.advance(1);
      const begun = await jobRuns.begin({
        jobId: jobs[i % 2]!,
        jobName: "k",
        owner: "me",
      });
      const end = { status: "success", endedAt: bench.clock.now() } as const;
      if (i > 1) await jobRuns.write(begun!.id, end);
      created.push(begun!);
    }
    // The first run of each job stays pending, so all others were skipped, then overwritten.
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await jobRuns.list({ limit: 10, ...(cursor && { cursor }) });
      seen.push(...page.runs.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    t.same(seen.toSorted(), created.map(({ id }) => id).toSorted());
    t.equal((await jobRuns.list({ jobId: jobs[0] })).runs.length, 12);
    t.equal((await jobRuns.list({ status: "pending" })).runs.length, 2);
    t.equal(await jobRuns.prune(5, jobs[0]), 6, "the pending one stays");
    const left = (await jobRuns.list({ jobId: jobs[0] })).runs;
    const all = seen.filter(
      (id) => created.findIndex((r) => r.id === id) % 2 === 0,
    );
    t.same(
      left.map(({ id }) => id),
      [...all.slice(0, 5), created[0]!.id],
    );
    t.equal(await jobRuns.prune(4), 12);
    t.equal((await jobRuns.list()).runs.length, 6);
    t.equal(await jobRuns.prune(100), 0);
    await t.rejects(jobRuns.list({ cursor: "x" }), {
      code: "INVALID_PARAMETERS",
    });
  });
}

/** A job with a schedule, in a database opened by several stores. */
async function createJob(t: Test, harness: StoreHarness, times = 1) {
  const bench = await createBench(t, harness);
  const stores: Store[] = [];
  for (let i = 0; i < times; i++) stores.push(await bench.open());
  const [store] = stores as [Store];
  const addJob = async () =>
    (await store.jobs.create({ name: "j", type: "call", body: {} })).id;
  const jobId = await addJob();
  const addSchedule = async () =>
    (await store.schedules.create({ jobId, cron: "* * * * *" })).id;
  const id = await addSchedule();
  for (const one of stores) await one.refresh();
  const start = (
    more: Partial<RunStart>,
    schedule: Partial<NonNullable<RunStart["schedule"]>>,
  ): RunStart => ({
    jobId,
    jobName: "j",
    owner: "me",
    ...more,
    schedule: { id, dueAt: DUE, until: DUE, overlap: "skip", ...schedule },
  });
  return { bench, stores, jobId, start, addSchedule, addJob };
}
