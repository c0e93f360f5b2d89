import { XapiError, XoError } from "@xo-server/model";
import { limits } from "@xo-server/store";
import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import type { TaskChange } from "../src/tasks/task-changes.js";
import { TaskChangeQueue } from "../src/tasks/task-change-queue.js";
import { TrackedXapi } from "../src/tasks/tracked-xapi.js";
import { untrackedTask, type TaskContext } from "../src/tasks/task-context.js";
import { setUp, begin, ada, objectsOn, settle, admin } from "./begun-tasks.js";

const eve = { id: "e", isAdmin: false };

t.test("without its database, one server alone begins tasks", async (t) => {
  const { tasks, store } = setUp(t);
  store.isGone = true;
  const { work, end } = await begin(tasks);
  t.notOk(work.signal.aborted);
  end();
});

t.test("a task reports its progress, notes and subtasks", async (t) => {
  const { tasks, clock } = setUp(t);
  const { id, work, end } = await begin(tasks);
  let endPart!: () => void;
  const part = work.part("copy a disk", async (part) => {
    part.progress(0.25);
    await new Promise<void>((resolve) => (endPart = resolve));
    return { size: 1 };
  });
  work.info("a note", { disk: "d" });
  work.warn("careful");
  t.match(await tasks.get(id, ada), {
    id,
    status: "pending",
    progress: 25,
    start: clock.now(),
    infos: [{ message: "a note", data: { disk: "d" } }],
    warnings: [{ message: "careful" }],
    tasks: [
      {
        status: "pending",
        progress: 25,
        properties: { name: "copy a disk" },
      },
    ],
  });
  endPart();
  await part;
  work.progress(0.5);
  await work
    .part("fails", async (part) => {
      part.progress(0.9);
      throw new XapiError("SR_FULL", ["1", "2"]);
    })
    .catch(() => undefined);
  await work.part("XAPI: VM.clone", async () => "OpaqueRef:1");
  await work.part("XAPI: VLAN.create", async () => ["OpaqueRef:2"]);
  t.match(await tasks.get(id, ada), {
    progress: 50,
    tasks: [
      { status: "success", progress: 100, result: { size: 1 } },
      { status: "failure", progress: 90, result: { code: "SR_FULL" } },
      { status: "success", result: undefined },
      { status: "success", result: undefined },
    ],
  });
  end("new");
  const waited = await tasks.get(id, ada, {
    signal: new AbortController().signal,
  });
  t.match(waited, { status: "success", progress: 100, result: { id: "new" } });
});

t.test(
  "a task about an object with a name of any length is stored",
  async (t) => {
    const { tasks, store } = setUp(t);
    const name = `Export of ${"\u{1F4BE}".repeat(3_000)}`;
    const { work, id, end } = await begin(tasks, "u", name);
    work.warn(name);
    await work.part(name, async () => undefined);
    end();
    await settle();
    const row = store.rows.get(id)!;
    t.ok(Buffer.byteLength(row.name) <= limits.textBytes);
    t.match(row.name, /^Export of \u{1F4BE}+\ufffd?…$/u);
    t.notMatch(row.name, /\p{Surrogate}/u, "UTF-8 can encode it");
    t.ok(
      JSON.stringify(row.body).length < 6_000,
      "nor are parts and notes long",
    );

    const odd = await begin(tasks, "u", "a\0b \ud800");
    t.equal(store.rows.get(odd.id)!.name, "a\ufffdb \ufffd");
    odd.end();
  },
);

t.test("the progress of a task with several items does not fall", async (t) => {
  const { tasks } = setUp(t);
  const { id, work, end } = await begin(tasks);
  const counts = { total: 2, succeeded: 0, failed: 0, running: 0, waiting: 2 };
  const progress = async () => (await tasks.get(id, ada))?.progress;
  work.reportCounts(counts);
  t.equal(await progress(), 0);
  await work.part("first", async (part) => {
    part.progress(1);
    t.equal(await progress(), 50, "all of one of two");
  });
  work.reportCounts({ ...counts, succeeded: 1, waiting: 1 });
  await work.part("second", async (part) => {
    part.progress(0.2);
    t.equal(await progress(), 60);
  });
  end();
});

t.test("tasks of pools are parts of their operation", async (t) => {
  const { tasks } = setUp(t);
  const { id, work } = await begin(tasks);
  const asked: { method: string; signal: AbortSignal | undefined }[] = [];
  let report!: (fraction: number) => void;
  const xapi = {
    label: "pool",
    session: async () => "OpaqueRef:session",
    callAsync: (
      method: string,
      _params: unknown,
      options: Parameters<Xapi["callAsync"]>[2],
    ) => {
      asked.push({ method, signal: options?.signal });
      report = options?.onProgress ?? (() => undefined);
      return new Promise((_, reject) => {
        options?.signal?.addEventListener("abort", () => {
          reject(new XoError("ABORTED", { what: method }));
        });
      });
    },
  } as unknown as Xapi;
  const objects = objectsOn(xapi);
  t.equal(objects.get("v").xapi, xapi, "without a task it is not tracked");
  t.equal(objects.forTask(untrackedTask).get("v").xapi, xapi);
  const tracked = objects.forTask(work);
  const { xapi: untracked } = tracked.untracked.get("v");
  t.notOk(untracked instanceof TrackedXapi, "what cleans up is not cancelled");
  const call = tracked.get("v").xapi.callAsync("VM.copy", []);
  const failed = t.rejects(call, { code: "ABORTED" });
  t.equal(tracked.get("v").xapi.label, "pool");
  while (asked.length === 0) await settle();
  report(0.4);
  t.match(await tasks.get(id, ada), {
    progress: 40,
    tasks: [{ properties: { name: "XAPI: VM.copy" }, progress: 40 }],
  });
  await tasks.abort(id, ada);
  t.ok(asked[0]!.signal!.aborted);
  await failed;
  t.match(await tasks.get(id, ada), {
    tasks: [{ status: "failure", result: { code: "ABORTED" } }],
  });
});

t.test("a task is tracked after other tasks have ended", async (t) => {
  const { tasks } = setUp(t);
  const [long, short] = [await begin(tasks), await begin(tasks)];
  const xapi = {
    label: "pool",
    session: async () => "OpaqueRef:session",
    callAsync: async () => "",
  } as unknown as Xapi;
  const objects = objectsOn(xapi);
  const tracked = objects.forTask(long.work);
  await objects.forTask(short.work).get("v").xapi.callAsync("VM.start", []);
  short.end("done");
  await settle();
  await tracked.get("v").xapi.callAsync("VM.copy", []);
  t.match(await tasks.get(long.id, ada), {
    tasks: [{ properties: { name: "XAPI: VM.copy" } }],
  });
  t.match(await tasks.get(short.id, ada), {
    tasks: [{ properties: { name: "XAPI: VM.start" } }],
  });
  t.equal(objects.get("v").xapi, xapi);
});

t.test(
  "a task gives up early at a pool that cannot be reached only as long as it has not begun",
  async (t) => {
    const { tasks } = setUp(t);
    const waits: unknown[] = [];
    const note = async (options: { readonly isPatient?: boolean }) => {
      waits.push(options.isPatient === true);
      return "OpaqueRef:session";
    };
    const objects = objectsOn({
      label: "pool",
      session: note,
      call: (_method: string, _params: unknown, options: object) =>
        note(options),
      callAsync: (_method: string, _params: unknown, options: object) =>
        note(options),
    } as unknown as Xapi);
    const { work } = await begin(tasks);
    const { xapi } = objects.forTask(work).get("v");
    await xapi.call("VM.set_name_label", []);
    await xapi.callAsync("VM.start", []);
    t.same(waits.splice(0), [false, false, false], "session and call");
    await xapi.call("VM.set_name_label", []);
    await xapi.callAsync("VM.start", []);
    t.same(waits.splice(0), [true, true, true], "it would stop midway");
    const { work: bulk } = await begin(tasks);
    await bulk.part("vm.start v", async (part) =>
      objects.forTask(part).get("v").xapi.callAsync("VM.start", []),
    );
    t.same(waits.splice(0), [true, true], "one of many");
    const { work: other } = await begin(tasks);
    const { untracked } = objects.forTask(other);
    await untracked.get("v").xapi.call("VM.destroy", []);
    t.same(waits, [true], "cleanup");
  },
);

t.test("a subtask does not report a reference as its result", async (t) => {
  const { tasks } = setUp(t);
  const { id, work } = await begin(tasks);
  for (const result of ["", "OpaqueRef:1", ["a"], null])
    await work.part("p", async () => result);
  const task = (await tasks.get(id, ada)) as { tasks?: readonly object[] };
  t.equal(task.tasks?.length, 4);
  t.notMatch(JSON.stringify(task), '"result"');
});

t.test(
  "only users with the right can see, abort and delete a task",
  async (t) => {
    const { tasks, store } = setUp(t);
    const { id, work, end } = await begin(tasks);
    for (const attempt of [tasks.abort(id, eve), tasks.delete(id, eve)])
      await t.rejects(attempt, { code: "NO_SUCH_OBJECT" });
    t.equal(await tasks.get(id, eve), undefined);
    t.notOk(work.signal.aborted);
    await t.rejects(tasks.delete(id, ada), { code: "FORBIDDEN_OPERATION" });
    await tasks.abort(id, admin);
    t.ok(work.signal.aborted);
    t.match(await tasks.get(id, ada), {
      status: "pending",
      abortionRequestedAt: Number,
    });
    end();
    await settle();
    await t.rejects(tasks.abort(id, ada), { code: "FORBIDDEN_OPERATION" });
    t.equal(await tasks.deleteEnded(eve), 0);
    t.ok(store.rows.has(id));
    await tasks.delete(id, ada);
    t.equal(await tasks.get(id, ada), undefined);
    await t.rejects(tasks.delete(id, ada), { code: "NO_SUCH_OBJECT" });
  },
);

t.test(
  "progress is persisted once a second, the end immediately",
  async (t) => {
    const { tasks, store, clock } = setUp(t);
    const { id, work, end } = await begin(tasks);
    t.equal(store.puts.length, 1);
    for (let i = 1; i <= 50; i++) work.progress(i / 100);
    t.equal(store.puts.length, 1);
    clock.pass(1_000);
    await settle();
    t.equal(store.puts.length, 2);
    t.match(store.rows.get(id), { body: { progress: 50 } });
    work.progress(0.6);
    end();
    await settle();
    clock.pass(10_000);
    await settle();
    t.equal(store.puts.length, 3);
    t.match(store.rows.get(id), { status: "success" });
  },
);

t.test("a task outlives an unavailable store", async (t) => {
  const { tasks, store, clock } = setUp(t);
  store.isGone = true;
  const { id, end } = await begin(tasks);
  end("x");
  await settle();
  t.match(await tasks.get(id, ada), { status: "success" });
  store.isGone = false;
  clock.pass(5_000);
  await settle();
  t.match(store.rows.get(id), { status: "success" });
  t.match(await tasks.get(id, ada), { result: { id: "x" } });
});

t.test("objects that are too large to store are left out", async (t) => {
  const { tasks } = setUp(t);
  const { id, work, end } = await begin(tasks);
  for (let i = 0; i < 500; i++) {
    work.info(`note ${i}`);
    await work.part(`part ${i}`, async () => undefined);
  }
  end({ text: "x".repeat(100_000) });
  await settle();
  const task = await tasks.get(id, admin);
  t.match(task, { result: { leftOut: /characters/ } });
  const { infos, tasks: parts } = task as {
    infos?: readonly object[];
    tasks?: readonly object[];
  };
  t.same([infos?.length, parts?.length], [50, 50]);
});

t.test("a slow reader gets the newest of each task", async (t) => {
  const mailbox = new TaskChangeQueue();
  const change = (id: string, progress: number): TaskChange => ({
    kind: "update",
    userId: "u",
    task: { id, status: "pending", progress },
  });
  for (let i = 0; i < 100; i++) mailbox.put(change("a", i));
  mailbox.put(change("b", 1));
  mailbox.put({ kind: "remove", userId: "u", id: "a" });
  const reader = mailbox.take();
  t.match((await reader.next()).value, { task: { id: "b" } });
  t.match((await reader.next()).value, { kind: "remove", id: "a" });
  const waiting = reader.next();
  mailbox.put(change("c", 1));
  t.match((await waiting).value, { task: { id: "c" } });
  for (let i = 0; i <= 10_000; i++) mailbox.put(change(String(i), i));
  t.ok(
    (await reader.next()).done,
    "a client with too many queued messages is disconnected",
  );
});

t.test("work without subscribers is done too", async (t) => {
  const work: TaskContext = untrackedTask;
  work.progress(1);
  work.info("x");
  t.equal(await work.part("p", async () => 1), 1);
  t.notOk(work.signal.aborted);
});

t.test(
  "persisted data of an operation is written before it continues, and hidden",
  async (t) => {
    const { store, tasks } = setUp(t);
    const subject = {
      name: "reboot",
      objectType: "pool",
      objectId: "p",
      userId: "u",
      params: {},
      operation: "pool.rollingReboot",
    };
    let goOn!: () => void;
    const { id, result } = await tasks.run(subject, async (work) => {
      await work.persistState({ done: ["early"] });
      await new Promise<void>((resolve) => (goOn = resolve));
      await work.persistState({ done: ["host"] });
      t.match(store.rows.get(id)?.body, { kept: { done: ["host"] } });
      await new Promise<void>((resolve) => (goOn = resolve));
      return "result";
    });
    t.match(store.rows.get(id)?.body, {
      kept: { done: ["early"] },
      properties: { operation: "pool.rollingReboot" },
    });
    goOn();
    await settle();
    t.notMatch(await tasks.get(id, ada), { kept: Object });
    goOn();
    t.equal(await result, "result");
    await settle();
    const stored = await tasks.get(id, ada);
    t.match(stored, { status: "success" });
    t.notMatch(stored, { kept: Object });
  },
);

t.test("a task shows that an action may be lost", async (t) => {
  const callAsync: Xapi["callAsync"] = async (_method, _params, options) => {
    options?.onUnanswered?.("xo2");
  };
  const session = () => Promise.resolve("session");
  const objects = objectsOn({ callAsync, session } as unknown as Xapi);
  const { tasks } = setUp(t);
  const { id, work, end } = await begin(tasks);
  await objects.forTask(work).get("v").xapi.callAsync("VM.start", []);
  t.match(await tasks.get(id, ada), {
    tasks: [{ warnings: [{ message: /reached through xo2 now/ }] }],
  });
  end();
});
