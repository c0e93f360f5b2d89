import type { Task } from "@xo-server/store";
import type { Test } from "tap";
import { createBench, type StoreHarness } from "./harness.js";

export async function testTasks(t: Test, harness: StoreHarness) {
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

  t.test("the latest state of a task survives a restart", async (t) => {
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

  t.test("tasks are listed by the time of their start", async (t) => {
    const store = await (await createBench(t, harness)).open();
    for (const startedAt of [10, 20, 30])
      await store.tasks.put(task(`t${startedAt}`, { startedAt }));
    const ids = async (options: object) =>
      (await store.tasks.list(options)).tasks.map(({ id }) => id);
    t.same(await ids({ since: 20 }), ["t30", "t20"]);
    t.same(await ids({ until: 20 }), ["t10"]);
    t.same(await ids({ since: 20, until: 30 }), ["t20"]);
  });

  t.test("tasks are listed in pages, newest first, each once", async (t) => {
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

  t.test("a server lists the tasks of others", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.tasks.put(task("mine", { updatedAt: 3_000 }));
    await store.tasks.put(task("old", { owner: "server-2" }));
    const theirs = task("theirs", { owner: "server-2", updatedAt: 2_000 });
    await store.tasks.put(theirs);
    t.same(await store.tasks.listOfOtherServers("server-1", 2_000), [theirs]);
    t.same([...(await store.tasks.whichOf(["old", "gone"]))], ["old"]);
    t.same([...(await store.tasks.whichOf([]))], []);
  });

  t.test("one server requests another to abort a task", async (t) => {
    const store = await (await createBench(t, harness)).open();
    await store.tasks.put(task("a"));
    await store.tasks.put(
      task("b", { status: "success", endedAt: 2_000, userId: "u" }),
    );
    t.equal(await store.tasks.askToAbort("a"), true);
    t.equal(await store.tasks.askToAbort("b"), false);
    t.equal(await store.tasks.askToAbort("absent"), false);
    await store.tasks.put(task("a", { body: { progress: 1 } }));
    t.same(await store.tasks.listCancelRequested("server-1"), ["a"]);
    t.same(await store.tasks.listCancelRequested("server-2"), []);
    t.same(await store.tasks.deleteEnded("other"), []);
    t.same(await store.tasks.deleteEnded(), [{ id: "b", userId: "u" }]);
    t.ok(await store.tasks.get("a"));
  });

  t.test("a server finds only its own pending tasks", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    await store.tasks.put(task("a"));
    await store.tasks.put(task("b", { owner: "server-2" }));
    await store.tasks.put(task("c", { status: "success", endedAt: 1_500 }));
    await store.tasks.put(task("d"));
    const found = await store.tasks.listPending("server-1");
    t.same(found, [task("a"), task("d")]);
    t.same(await store.tasks.listPending("server-1", "a"), [task("d")]);
    t.equal(await store.tasks.deleteEndedBefore(2_000), 1);
    t.equal(await store.tasks.get("c"), undefined);
  });

  t.test(
    "steps of a task are stored, changed, listed by key and deleted",
    async (t) => {
      const bench = await createBench(t, harness);
      const store = await bench.open();
      const step = (taskId: string, key: string, body: unknown = { n: 1 }) => ({
        taskId,
        key,
        body,
      });
      const many = Array.from({ length: 250 }, (_, i) =>
        step("a", `item/${String(i).padStart(5, "0")}`, { i }),
      );
      await store.taskSteps.put([step("b", "z"), ...many]);
      await store.taskSteps.put([step("a", "item/00001", { ended: true })]);
      const again = await bench.open();
      const listed = await again.taskSteps.list("a");
      t.equal(listed.length, 250);
      t.same(listed[1], step("a", "item/00001", { ended: true }));
      t.same(listed.at(-1), many.at(-1));
      t.same(await again.taskSteps.list("a", "item/00248"), [many.at(-1)]);
      t.same(await again.taskSteps.list(""), []);
      await t.rejects(again.taskSteps.put([step("a/b", "c")]), {
        code: "INVALID_PARAMETERS",
      });
      await again.taskSteps.deleteOf("a");
      t.same(await again.taskSteps.list("a"), []);
      t.equal((await again.taskSteps.list("b")).length, 1);
    },
  );

  t.test("old steps without a pending task are pruned", async (t) => {
    const bench = await createBench(t, harness);
    const store = await bench.open();
    const steps = ["pending", "ended", "gone"].map((taskId) => ({
      taskId,
      key: "k",
      body: {},
    }));
    await store.taskSteps.put(steps);
    await store.tasks.put(task("pending"));
    await store.tasks.put(task("ended", { status: "success" }));
    await store.taskSteps.deleteLeftBefore(bench.clock.now());
    t.equal((await store.taskSteps.list("gone")).length, 1);
    await store.taskSteps.deleteLeftBefore(bench.clock.now() + 1);
    for (const { taskId } of steps)
      t.equal(
        (await store.taskSteps.list(taskId)).length,
        taskId === "pending" ? 1 : 0,
      );
  });
}
