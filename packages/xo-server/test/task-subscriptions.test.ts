import t, { type Test } from "tap";
import { createLoggers } from "../src/log/logger.js";
import { taskListOperations } from "../src/methods/jobs/task-list.js";
import type { CallContext } from "../src/operations/operation.js";
import { TaskSubscriptions } from "../src/tasks/task-subscriptions.js";
import type { TaskView } from "../src/tasks/task-view.js";
import { Tasks } from "../src/tasks/tasks.js";
import { FakeClient } from "./fake-client.js";
import { FakeClock } from "./fake-clock.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { createTestDispatcher } from "./test-dispatcher.js";

interface TaskNotification {
  readonly update: readonly TaskView[];
  readonly remove: readonly string[];
  readonly reset?: boolean;
}

function startBench(t: Test) {
  const clock = new FakeClock();
  const tasks = new Tasks({
    store: new FakeTaskStore(),
    owner: "here",
    clock,
    logger: { warn: () => undefined },
  });
  const subscriptions = new TaskSubscriptions({ tasks, clock });
  t.teardown(() => {
    subscriptions.stop();
    tasks.stop();
  });
  const users = {
    get: (id: string) => ({ id, name: `${id} the user` }),
    findByName: (name: string) =>
      name === "tom the user" ? { id: "tom" } : undefined,
  };
  const dispatcher = createTestDispatcher(taskListOperations, {
    findObject: (id) => {
      const [, pool] = /^vm-of-(.*)/.exec(id) ?? [];
      if (pool === undefined) return undefined;
      const json = Buffer.from(JSON.stringify({ id, $pool: pool }));
      return { id, type: "VM", pool: "connection", json };
    },
    services: {
      tasks,
      taskSubscriptions: subscriptions,
      store: { users } as never,
    },
    logger: createLoggers({ destination: { write: () => undefined } }).named(
      "xo:t",
    ),
  });
  /** A user with a socket. */
  const join = (id: string, isAdmin = false) => {
    const rights = { may: () => false };
    const person = { id, name: id, isAdmin, rights };
    const client = new FakeClient();
    const received: TaskNotification[] = [];
    const state = { hasRoom: true };
    client.session = { user: () => person } as never;
    client.trySend = (message?: Buffer) => {
      const { method, params } = JSON.parse(String(message)) as {
        method: string;
        params: TaskNotification;
      };
      t.equal(method, "task");
      if (state.hasRoom) received.push(params);
      return state.hasRoom;
    };
    const context = {
      user: person,
      permission: "user",
      client,
    } as unknown as CallContext & {
      client: FakeClient;
    };
    const call = (name: string, params: object = {}) =>
      dispatcher.call(name, params, context);
    return { client, received, state, call };
  };
  const begin = (userId: string, name: string, objectId = "vm") =>
    beginTask(tasks, { userId, name, objectId });
  return { clock, tasks, join, begin };
}

/** A task that runs until `end` is called. */
async function beginTask(
  tasks: Tasks,
  subject: Readonly<Record<"userId" | "name" | "objectId", string>>,
) {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const { id, result } = await tasks.run(
    { ...subject, objectType: "VM", params: {} },
    async (work) => {
      work.progress(0.25);
      await ended;
    },
  );
  return {
    id,
    async end() {
      end();
      await result;
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
  };
}

t.test("a subscriber is notified of its tasks", async (t) => {
  const { clock, tasks, join, begin } = startBench(t);
  const tess = join("tess");
  const admin = join("root", true);
  t.equal(await tess.call("task.subscribe"), true);
  t.equal(await admin.call("task.subscribe"), true);
  const hers = await begin("tess", "hers");
  const his = await begin("tom", "his");
  clock.pass(300);
  t.match(tess.received, [{ update: [{ id: hers.id, status: "pending" }] }]);
  t.equal(tess.received[0]!.update.length, 1, "of no other user");
  t.same(
    admin.received[0]!.update.map(({ id }) => id),
    [hers.id, his.id],
  );
  await hers.end();
  clock.pass(300);
  t.match(tess.received[1], { update: [{ id: hers.id, status: "success" }] });
  await tasks.delete(hers.id, { id: "tess", isAdmin: false });
  clock.pass(300);
  t.same(tess.received[2], { update: [], remove: [hers.id] });
  t.equal(await tess.call("task.unsubscribe"), true);
  t.equal(await tess.call("task.unsubscribe"), false);
  await begin("tess", "later");
  clock.pass(300);
  t.equal(tess.received.length, 3);
});

t.test(
  "a list has the user's own tasks, of an object, that are pending",
  async (t) => {
    const { join, begin } = startBench(t);
    const tess = join("tess");
    const done = await begin("tess", "one", "a");
    await done.end();
    const open = await begin("tess", "two", "b");
    const his = await begin("tom", "three", "a");
    const ids = async (params: object, who = tess) =>
      ((await who.call("task.list", params)) as TaskView[]).map(({ id }) => id);
    t.same(await ids({}), [open.id, done.id]);
    t.same(await ids({ pending: true }), [open.id]);
    t.same(await ids({ object: "a" }), [done.id]);
    t.same(await ids({ limit: 1 }), [open.id]);
    t.same(await ids({ object: "a" }, join("root", true)), [his.id, done.id]);
  },
);

t.test("tasks are searched by text, user, status and time", async (t) => {
  const { join, begin, clock } = startBench(t);
  const root = join("root", true);
  const first = await begin("tess", "Reboot web", "a");
  await first.end();
  clock.pass(60_000);
  const since = clock.now();
  const second = await begin("tom", "snapshot", "b");
  const ids = async (params: object, who = root) =>
    ((await who.call("task.list", params)) as TaskView[]).map(({ id }) => id);
  t.same(await ids({ text: "REBOOT" }), [first.id]);
  t.same(await ids({ text: "tom the" }), [second.id], "the name of a user");
  t.same(await ids({ text: "nothing" }), []);
  t.same(await ids({ user: "tom the user" }), [second.id]);
  t.same(await ids({ user: "tess" }), [first.id]);
  t.same(await ids({ user: "tess" }, join("tom")), [second.id], "own tasks");
  t.same(await ids({ status: "success" }), [first.id]);
  t.same(await ids({ since }), [second.id]);
  t.same(await ids({ until: since }), [first.id]);
  await t.rejects(root.call("task.list", { status: "done" }), {
    code: "INVALID_PARAMETERS",
  });
});

t.test("tasks of a pool are those of readable objects in it", async (t) => {
  const { join, begin } = startBench(t);
  const root = join("root", true);
  const tess = join("tess");
  const first = await begin("tess", "start", "vm-of-p1");
  await begin("tess", "start", "vm-of-p2");
  await begin("tess", "bulk", "");
  const ids = async (params: object, who = root) =>
    ((await who.call("task.list", params)) as TaskView[]).map(({ id }) => id);
  t.same(await ids({ pool: "p1" }), [first.id]);
  t.same(await ids({ pool: "p1", text: "stop" }), []);
  t.same(await ids({ pool: "p3" }), []);
  t.same(await ids({ pool: "p1" }, tess), [], "without a right on the VM");
});

t.test(
  "a subscriber that does not read gets the newest state when there is room",
  async (t) => {
    const { clock, join, begin } = startBench(t);
    const tess = join("tess");
    await tess.call("task.subscribe");
    tess.state.hasRoom = false;
    const task = await begin("tess", "one");
    clock.pass(300);
    await task.end();
    clock.pass(300);
    t.same(tess.received, []);
    tess.state.hasRoom = true;
    clock.pass(1_500);
    t.equal(tess.received.length, 1);
    t.match(tess.received[0]!.update, [{ status: "success" }]);
  },
);

t.test(
  "a client with too many waiting tasks has to list them again",
  async (t) => {
    const { clock, join, begin } = startBench(t);
    const tess = join("tess");
    await tess.call("task.subscribe");
    tess.state.hasRoom = false;
    for (let i = 0; i <= 2_000; i++) await begin("tess", `n${i}`);
    tess.state.hasRoom = true;
    clock.pass(1_500);
    t.equal(tess.received[0]!.reset, true);
    await begin("tess", "after");
    clock.pass(300);
    t.equal(tess.received.at(-1)!.reset, undefined);
  },
);

t.test("a client that has signed out gets no more notifications", async (t) => {
  const { clock, join, begin } = startBench(t);
  const tess = join("tess");
  await tess.call("task.subscribe");
  await begin("tess", "one");
  tess.client.session = undefined;
  clock.pass(300);
  await begin("tess", "two");
  clock.pass(300);
  t.same(tess.received, []);
});

t.test("a subscriber without details gets summaries", async (t) => {
  const { clock, tasks, join } = startBench(t);
  const tess = join("tess");
  const script = join("tess");
  await script.call("task.subscribe");
  await tess.call("task.subscribe", { details: true });
  await tess.call("task.subscribe", { details: false });
  const ids = Array.from({ length: 500 }, (_, at) => `vm-${at}`);
  const subject = {
    userId: "tess",
    objectId: "",
    objectType: "",
    name: "bulk",
    params: { method: "vm.start", ids },
  };
  let parts = 0;
  const turn = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
    clock.pass(50);
  };
  const { id, result } = await tasks.run(subject, async (work) => {
    work.info("began", { ids });
    for (const one of ids) {
      await work.part(`vm.start ${one}`, async (part) => {
        part.progress(0.5);
        await turn();
      });
      work.progress(++parts / ids.length);
    }
  });
  await result;
  for (let i = 0; i < 10; i++) await turn();

  const updates = tess.received.flatMap(({ update }) => update);
  t.match(updates.at(-1), {
    id,
    status: "success",
    progress: 100,
    properties: {
      name: "bulk",
      params: { method: "vm.start", ids: undefined },
    },
    tasks: undefined,
    infos: undefined,
    omitted: { tasks: 50, infos: 1, warnings: 0 },
  });
  t.ok(updates.length > 50, "its progress is followed");
  const largest = Math.max(...updates.map((one) => JSON.stringify(one).length));
  t.ok(largest < 500, `${largest} characters at most`);
  const whole = script.received.flatMap(({ update }) => update).at(-1)!;
  t.equal(whole.tasks?.length, 50);

  const [listed] = (await tess.call("task.list", {
    details: false,
  })) as TaskView[];
  t.same(listed, updates.at(-1));
  t.same(await tess.call("task.get", { id }), whole);
  await t.rejects(join("tom").call("task.get", { id }), {
    code: "NO_SUCH_OBJECT",
  });
});
