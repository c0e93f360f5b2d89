import type { Task } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testJobsAndTasks(t: Test, harness: StoreHarness) {
  t.test("a job is kept, changed and deleted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const job = await store.jobs.create({
      name: "nightly",
      type: "backup",
      schedule: "0 0 * * *",
      timezone: "Europe/Berlin",
      body: { vms: ["a"] },
    });
    await store.jobs.update(job.id, { enabled: false, body: { vms: [] } });
    const again = await bench.open();
    t.same(again.jobs.get(job.id), {
      ...job,
      enabled: false,
      body: { vms: [] },
    });
    await again.jobs.delete(job.id);
    t.same([...again.jobs.list()], []);
  });

  const task = (id: string, more: Partial<Task> = {}): Task => ({
    id,
    owner: "server-1",
    name: "vm.start",
    status: "pending",
    startedAt: 1_000,
    updatedAt: 1_000,
    body: { progress: 0 },
    ...more,
  });

  t.test("a task's newest state is there after a restart", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.tasks.put(task("a", { userId: "u", objectId: "vm" }));
    const done = task("a", {
      userId: "u",
      objectId: "vm",
      status: "success",
      endedAt: 2_000,
      body: { progress: 100, result: "vm-2" },
    });
    await store.tasks.put(done);
    await store.close();
    const again = await bench.open();
    t.same(await again.tasks.get("a"), done);
    t.equal(await again.tasks.get("b"), undefined);
    await again.tasks.delete("a");
    await t.rejects(again.tasks.delete("a"), { code: "NO_SUCH_OBJECT" });
  });

  t.test("tasks come in pages, newest first, each once", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await Promise.all(
      Array.from({ length: 25 }, (_, i) =>
        store.tasks.put(
          task(`t${i}`, {
            startedAt: 1_000 + Math.floor(i / 4),
            userId: i % 2 ? "u" : "v",
          }),
        ),
      ),
    );
    const seen: Task[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.tasks.list({
        limit: 10,
        ...(cursor && { cursor }),
      });
      seen.push(...page.tasks);
      cursor = page.cursor;
    } while (cursor !== undefined);
    t.equal(new Set(seen.map(({ id }) => id)).size, 25);
    const times = seen.map(({ startedAt }) => startedAt);
    t.same(
      times,
      times.toSorted((a, b) => b - a),
    );
    t.equal((await store.tasks.list({ userId: "u" })).tasks.length, 12);
    for (const limit of [0, 1_001, 1.5])
      await t.rejects(store.tasks.list({ limit }), {
        code: "INVALID_PARAMETERS",
      });
    await t.rejects(store.tasks.list({ cursor: "nonsense" }), {
      code: "INVALID_PARAMETERS",
    });
  });

  t.test("a server hears of the tasks of others", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.tasks.put(task("mine", { updatedAt: 3_000 }));
    await store.tasks.put(task("old", { owner: "server-2" }));
    const theirs = task("theirs", { owner: "server-2", updatedAt: 2_000 });
    await store.tasks.put(theirs);
    t.same(await store.tasks.listForeign("server-1", 2_000), [theirs]);
    t.same([...(await store.tasks.whichOf(["old", "gone"]))], ["old"]);
    t.same([...(await store.tasks.whichOf([]))], []);
  });

  t.test("one server asks another to give a task up", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.tasks.put(task("a"));
    await store.tasks.put(
      task("b", { status: "success", endedAt: 2_000, userId: "u" }),
    );
    t.equal(await store.tasks.askToAbort("a"), true);
    t.equal(await store.tasks.askToAbort("b"), false);
    t.equal(await store.tasks.askToAbort("absent"), false);
    await store.tasks.put(task("a", { body: { progress: 1 } }));
    t.same(await store.tasks.unwanted("server-1"), ["a"]);
    t.same(await store.tasks.unwanted("server-2"), []);
    t.same(await store.tasks.deleteEnded("other"), []);
    t.same(await store.tasks.deleteEnded(), [{ id: "b", userId: "u" }]);
    t.ok(await store.tasks.get("a"));
  });

  t.test("what a server left behind is called interrupted", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.tasks.put(task("a"));
    await store.tasks.put(task("b", { owner: "server-2" }));
    await store.tasks.put(task("c", { status: "success", endedAt: 1_500 }));
    t.equal(await store.tasks.interrupt("server-1"), 1);
    t.match(await store.tasks.get("a"), {
      status: "interrupted",
      endedAt: bench.clock.now(),
    });
    t.match(await store.tasks.get("b"), { status: "pending" });
    t.equal(await store.tasks.deleteEndedBefore(2_000), 1);
    t.equal(await store.tasks.get("c"), undefined);
  });
}
