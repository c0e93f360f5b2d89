import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import t, { type Test } from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import type { TaskChange } from "../src/tasks/task-changes.js";
import { TaskChangeQueue } from "../src/tasks/task-change-queue.js";
import { Tasks } from "../src/tasks/tasks.js";
import { untrackedTask, type TaskContext } from "../src/tasks/task-context.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";

const admin = { id: "a", isAdmin: true };
const ada = { id: "u", isAdmin: false };
const eve = { id: "e", isAdmin: false };

function setUp(t: Test, shared = false, lease?: HeldLease) {
  const store = new FakeTaskStore();
  const clock = new FakeClock();
  const open = (owner: string) => {
    const tasks = new Tasks({
      store,
      clock,
      owner,
      isShared: shared,
      ...(lease === undefined ? {} : { lease: () => lease }),
      logger: { warn: () => undefined },
    });
    t.teardown(() => {
      tasks.stop();
    });
    return tasks;
  };
  return { store, clock, open, tasks: open("here") };
}

/** Work that continues until the test ends it. */
async function begin(tasks: Tasks, userId = "u") {
  let end!: (result?: unknown) => void;
  let fail!: (error: Error) => void;
  const task = tasks.prepare({
    name: "start",
    objectType: "VM",
    objectId: "v",
    userId,
    params: {},
  });
  const result = new Promise((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  await tasks.follow(task, result);
  return { id: task.id, work: task.node, end, fail };
}

const settle = () => new Promise(setImmediate);

t.test("without its database, one server alone begins tasks", async (t) => {
  const { tasks, store } = setUp(t);
  store.isGone = true;
  const { work, end } = await begin(tasks);
  t.notOk(work.signal.aborted);
  end();
});

t.test(
  "a task that can be resumed begins no work before it has persisted a state",
  async (t) => {
    const tasks = new Tasks({
      store: new FakeTaskStore(),
      clock: new FakeClock(),
      owner: "here",
      canResume: (operation) => operation === "vm.create",
      logger: { warn: () => undefined },
    });
    t.teardown(() => {
      tasks.stop();
    });
    const prepare = (operation: string) =>
      tasks.prepare({
        name: "a task",
        objectType: "VM",
        objectId: "v",
        userId: "u",
        params: {},
        operation,
      }).node;
    const subject = { pool: "p", method: "VM.start" };
    const start = (work: TaskContext) =>
      work.runXapiTask("start", subject, async (_part, log) => {
        await log.begin();
        return "called";
      });
    const work = prepare("vm.create");
    const refusal = /^vm\.create can be resumed, but has begun work before/;
    await t.rejects(start(work), { message: refusal }, "no XAPI task");
    await t.rejects(
      work.part("import", (part) => part.persistStep("k", {})),
      { message: refusal },
      "and no step of a part",
    );
    await work.persistState({});
    t.equal(await start(work), "called");
    t.equal(
      await start(prepare("vm.start")),
      "called",
      "an operation without `resume` needs none",
    );
  },
);

t.test(
  "of several servers, one begins no task that the others could not adopt",
  async (t) => {
    const fence = { subject: "tasks:here", owner: "here", epoch: 1 };
    const lease = new HeldLease(fence, new FakeClock(), Infinity);
    const { tasks, store } = setUp(t, true, lease);
    store.isGone = true;
    const task = tasks.prepare({
      name: "start",
      objectType: "VM",
      objectId: "v",
      userId: "u",
      params: {},
    });
    const unended = new Promise(() => undefined);
    await t.rejects(tasks.follow(task, unended), { message: "gone" });
    t.ok(task.node.signal.aborted, "it does not go on unseen");

    store.isGone = false;
    const { work, end } = await begin(tasks);
    t.notOk(work.signal.aborted);
    end();
  },
);

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
  t.equal(tracked.untracked.get("v").xapi, xapi);
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

/** One VM, "v", of a pool. */
function objectsOn(xapi: Xapi): PoolObjects {
  const json = Buffer.from(JSON.stringify({ id: "v", type: "VM" }));
  const get = (id: string) => ({ id, type: "VM", pool: "p", json });
  const catalog = { get, poolOf: () => "p", classOf: () => "VM" };
  return new PoolObjects(catalog, { xapi: () => xapi });
}

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

t.test("tasks of another server are read from the store", async (t) => {
  const { open, tasks, clock } = setUp(t, true);
  const other = open("there");
  const { id, work, end } = await begin(other);
  const received: TaskChange[] = [];
  const stop = tasks.watch((change) => received.push(change));
  clock.pass(1_000);
  await settle();
  t.match(received, [{ kind: "update", userId: "u", task: { id } }]);
  const waiting = tasks.get(id, ada, { signal: new AbortController().signal });
  await settle();
  await tasks.abort(id, ada);
  t.notOk(work.signal.aborted);
  clock.pass(1_000);
  await settle();
  t.ok(work.signal.aborted, "the server that runs it has been notified");
  end();
  await settle();
  for (let i = 0; i < 3; i++) {
    clock.pass(1_000);
    await settle();
  }
  t.match(await waiting, { id, status: "success" });
  t.match(received.at(-1), { task: { status: "success" } });
  await other.deleteEnded(admin);
  clock.pass(1_000);
  await settle();
  t.match(received.at(-1), { kind: "remove", id });
  stop();
  const { length } = received;
  await begin(other);
  clock.pass(5_000);
  await settle();
  t.equal(received.length, length, "who does not listen costs nothing");
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

t.test(
  "nothing is left of a task that another server has adopted",
  async (t) => {
    const fence = { subject: "tasks:here", owner: "here", epoch: 1 };
    const lease = new HeldLease(fence, new FakeClock(), Infinity);
    const { tasks, clock } = setUp(t, false, lease);
    const { work } = await begin(tasks);
    work.progress(0.5);
    t.equal(clock.waiting, 1, "the progress is to be written");
    lease.lose();
    await settle();
    t.equal(clock.waiting, 0);
  },
);

const fence = { subject: "tasks:here", owner: "here", epoch: 1 };
const creation = {
  name: "create",
  objectType: "SR",
  objectId: "s",
  userId: "u",
  params: {},
};

/** What has become of a promise. */
function follow(promise: Promise<unknown>): { state: string } {
  const followed = { state: "pending" };
  promise.then(
    () => (followed.state = "resolved"),
    (error: unknown) => (followed.state = (error as XoError).code),
  );
  return followed;
}

t.test(
  "of several servers, one continues an operation only when its state is in the database",
  async (t) => {
    const lease = new HeldLease(fence, new FakeClock(), Infinity);
    const { tasks, store, clock } = setUp(t, true, lease);
    const { id, work, end } = await begin(tasks);
    store.isGone = true;
    const persisted = follow(work.persistState({ disk: "d" }));
    await settle();
    clock.pass(60_000);
    await settle();
    t.equal(persisted.state, "pending");
    store.isGone = false;
    clock.pass(1_000);
    await settle();
    t.equal(persisted.state, "resolved");
    t.match(store.rows.get(id)?.body, { kept: { disk: "d" } });

    store.isGone = true;
    const unpersisted = follow(work.persistState({ disk: "d", isWhole: true }));
    await settle();
    lease.lose();
    clock.pass(1_000);
    await settle();
    t.equal(unpersisted.state, "TASK_TAKEN_OVER");
    await t.rejects(work.persistState({ disk: "e" }), {
      code: "TASK_TAKEN_OVER",
      message: /another server/,
    });
    end();
  },
);

t.test(
  "of several servers, one reports a result when no other can undo it any more",
  async (t) => {
    const lease = new HeldLease(fence, new FakeClock(), Infinity);
    const { tasks, store, clock } = setUp(t, true, lease);
    const create = async () => {
      let end!: (result: string) => void;
      const { result } = await tasks.run(
        creation,
        () => new Promise((resolve) => (end = resolve)),
      );
      store.isGone = true;
      end("d");
      await settle();
      const reported = follow(result);
      clock.pass(20_000);
      await settle();
      t.equal(reported.state, "pending");
      return reported;
    };
    const reported = await create();
    store.isGone = false;
    clock.pass(1_000);
    await settle();
    t.equal(reported.state, "resolved");

    const lost = await create();
    lease.lose();
    clock.pass(1_000);
    await settle();
    t.equal(lost.state, "TASK_TAKEN_OVER", "another server has adopted it");
  },
);

t.test(
  "cleanup of a task sends nothing when another server has adopted it",
  async (t) => {
    const calls: string[] = [];
    const call = async (
      method: string,
      _params: unknown,
      { beforeSend }: { beforeSend?: (session: string) => void } = {},
    ) => {
      beforeSend?.("session");
      calls.push(method);
    };
    const objects = objectsOn({ call, callAsync: call } as unknown as Xapi);
    const clock = new FakeClock();
    const lease = new HeldLease(fence, clock, clock.now() + 1_000);
    const { tasks } = setUp(t, false, lease);
    const { work, end } = await begin(tasks);
    const { xapi } = objects.forTask(work).untracked.get("v");
    await xapi.callAsync("VM.destroy");
    t.same(calls, ["VM.destroy"]);

    clock.pass(2_000);
    const late = follow(xapi.callAsync("VDI.destroy"));
    const called = follow(xapi.call("VM.set_name_label"));
    await settle();
    t.same(calls, ["VM.destroy"], "it waits for the lease");
    lease.renew(clock.now() + 1_000);
    await settle();
    t.same([late.state, called.state], ["resolved", "resolved"]);
    t.same(calls.slice(1).toSorted(), ["VDI.destroy", "VM.set_name_label"]);

    clock.pass(2_000);
    const lost = follow(xapi.callAsync("VM.destroy"));
    lease.lose();
    await settle();
    t.equal(lost.state, "pending", "the other server continues");
    t.equal(calls.length, 3);
    end();
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
