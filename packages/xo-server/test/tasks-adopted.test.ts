import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import t from "tap";
import { HeldLease } from "../src/cluster/held-lease.js";
import type { TaskChange } from "../src/tasks/task-changes.js";
import { Tasks } from "../src/tasks/tasks.js";
import type { TaskContext } from "../src/tasks/task-context.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { setUp, begin, ada, objectsOn, settle, admin } from "./begun-tasks.js";

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
