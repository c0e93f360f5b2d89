import { XapiError, XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { Type } from "typebox";
import t, { type Test } from "tap";
import {
  defineOperation,
  type Operation,
} from "../src/operations/operation.js";
import type { AuthenticatedUser } from "../src/auth/users/authenticated-user.js";
import type { PoolSummary } from "../src/status/status.js";
import { Rights } from "../src/rights/rights.js";
import { PoolObjects } from "../src/objects/pool-objects.js";
import { TrackedXapi } from "../src/tasks/tracked-xapi.js";
import { XapiTaskWatch } from "../src/tasks/xapi-task-watch.js";
import { Recovery } from "../src/recovery/recovery.js";
import { StepJournal } from "../src/tasks/step-journal.js";
import { Tasks } from "../src/tasks/tasks.js";
import type { TaskContext } from "../src/tasks/task-context.js";
import { createFakeAudit } from "./fake-audit.js";
import { FakeClock } from "./fake-clock.js";
import { fakeSeals } from "./fake-seals.js";
import { FakeStepStore } from "./fake-step-store.js";
import { FakeTaskStore } from "./fake-task-store.js";
import { createTestDispatcher } from "./test-dispatcher.js";

const ada = { id: "u", isAdmin: false };
const quiet = { warn: () => undefined, info: () => undefined };
const loud = { ...quiet, debug: quiet.warn, error: quiet.warn };
const settle = () => new Promise(setImmediate);
const VM = "OpaqueRef:vm";

/** A pool with tasks that end as a test says; it outlives servers. */
class FakePool {
  readonly asked: string[] = [];
  readonly cancelled: string[] = [];
  /** Those whose end was not reported. */
  readonly #waiting = new Map<
    string,
    { resolve: (result: unknown) => void; reject: (error: Error) => void }
  >();
  records: Record<string, object> = {};
  operations: Record<string, string> = {};
  powerState = "Running";
  /** The next call gets no answer. */
  isMute = false;
  session = "OpaqueRef:session";
  readonly endedSessions: string[] = [];
  onEndSession: () => void = () => undefined;
  onDestroy: () => void = () => undefined;
  /** @returns the session with which a call is sent */
  onSend: () => string = () => this.session;

  get xapi(): Xapi {
    const wait = (ref: string, signal?: AbortSignal) =>
      new Promise((resolve, reject) => {
        this.#waiting.set(ref, { resolve, reject });
        const cancel = () => {
          this.cancelled.push(ref);
          reject(new XoError("ABORTED", { what: ref }));
        };
        if (signal?.aborted === true) cancel();
        signal?.addEventListener("abort", cancel);
      });
    const xapi = {
      label: "pool",
      state: { name: "connected" },
      session: async () => this.session,
      endSession: async (session: string) => {
        this.endedSessions.push(session);
        this.onEndSession();
      },
      callAsync: async (
        method: string,
        _params: unknown,
        options: Parameters<Xapi["callAsync"]>[2],
      ) => {
        options?.beforeSend?.(this.onSend());
        this.asked.push(method);
        const ref = `OpaqueRef:${this.asked.length}`;
        if (!this.isMute) options?.onTask?.(ref);
        return wait(ref, options?.signal);
      },
      watchTask: (ref: string, options: Parameters<Xapi["watchTask"]>[1]) =>
        wait(ref, options?.signal),
      call: async (method: string) => {
        if (method === "task.get_all_records") return this.records;
        if (method === "task.destroy") this.onDestroy();
        if (method === "VM.get_current_operations") return this.operations;
        return method === "VM.get_power_state" ? this.powerState : "";
      },
    };
    return xapi as unknown as Xapi;
  }

  /** Who asked is dead. */
  hangUp(): void {
    this.#waiting.clear();
  }

  async end(ref: string, error?: Error): Promise<void> {
    while (!this.#waiting.has(ref)) await settle();
    const { resolve, reject } = this.#waiting.get(ref)!;
    if (error === undefined) resolve("");
    else reject(error);
    await settle();
  }
}

const allowed = new Rights([
  { effect: "allow", resource: "VM", action: "read" },
  { effect: "allow", resource: "VM", action: "operate" },
]);
const person = (rights = allowed): AuthenticatedUser => ({
  id: "u",
  name: "ada",
  isAdmin: false,
  groups: [],
  rights,
});

const OPERATION: Operation = defineOperation({
  name: "vm.do",
  summary: "",
  params: Type.Object({ id: Type.String() }),
  result: Type.Boolean(),
  permission: { action: "operate:use", resource: "VM", id: ({ id }) => id },
  changes: true,
  handler: () => true,
});

/** The only object. */
const findObject = (id: string) =>
  id === "v"
    ? {
        id,
        type: "VM",
        pool: "p",
        json: Buffer.from(JSON.stringify({ id, type: "VM" })),
      }
    : undefined;

function auditInto(outcomes: string[]) {
  return createFakeAudit({
    check: () => undefined,
    write: async ({ outcome }) =>
      void outcomes.push("error" in outcome ? "failure" : "success"),
  });
}

/** The tasks of a server. */
function openTasks(
  t: Test,
  owner: string,
  {
    clock,
    store,
    stepStore,
  }: { clock: FakeClock; store: FakeTaskStore; stepStore: FakeStepStore },
) {
  const steps = new StepJournal({
    store: stepStore.store,
    seals: fakeSeals,
    clock,
    logger: quiet,
  });
  const tasks = new Tasks({ store, steps, clock, owner, logger: quiet });
  t.teardown(() => {
    tasks.stop();
  });
  return { tasks, steps };
}

/** Servers, one after the other, over the same store and pool. */
function setUp(t: Test, extra: Partial<Operation> = {}) {
  const clock = new FakeClock();
  const store = new FakeTaskStore();
  const stepStore = new FakeStepStore();
  const pool = new FakePool();
  const audit: string[] = [];
  let users: AuthenticatedUser | undefined = person();
  const operation = { ...OPERATION, ...extra };
  const open = (owner = "here") =>
    openTasks(t, owner, { clock, store, stepStore });
  const begin = async (
    { tasks }: ReturnType<typeof open>,
    run: (xapi: () => Xapi, work: TaskContext) => Promise<unknown>,
    subject: object = {},
  ) => {
    const task = tasks.prepare({
      name: "do it",
      objectType: "VM",
      objectId: "v",
      userId: "u",
      params: {},
      operation: "vm.do",
      ...subject,
    });
    const { node } = task;
    const result = run(() => new TrackedXapi(pool.xapi, "p", node), node);
    result.catch(() => undefined);
    await tasks.follow(task, result);
    for (let i = 0; i < 10; i++) await settle();
    return task.id;
  };
  const restart = async (owner = "here") => {
    pool.hangUp();
    const { tasks, steps } = open(owner);
    const pools = {
      listSummaries: () => [{ id: "p", state: "watching" } as PoolSummary],
      xapi: () => pool.xapi,
    };
    const dispatcher = createTestDispatcher([operation], {
      logger: loud,
      findObject,
      audit: auditInto(audit),
    });
    const recovery = new Recovery({
      dispatcher,
      connectionOf: (id) => findObject(id)?.pool,
      pools,
      steps,
      clock,
      logger: quiet,
      users: { get: () => users },
      objects: new PoolObjects(
        { get: () => undefined, poolOf: () => "p", classOf: (type) => type },
        pools,
      ),
      watch: new XapiTaskWatch({ pools, steps, clock }),
    });
    const interrupted = await tasks.loadInterrupted();
    const done = recovery.recover(interrupted);
    return { tasks, interrupted, done };
  };
  return {
    clock,
    store,
    stepStore,
    pool,
    audit,
    open,
    begin,
    restart,
    setPerson: (now: AuthenticatedUser | undefined) => (users = now),
  };
}

const oneCall = { isOneCall: () => true };

t.test(
  "the single call of an operation is found again, and completes its task",
  async (t) => {
    const { open, begin, restart, pool, audit, stepStore } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    t.match(await tasks.get(id, ada), {
      status: "pending",
      tasks: [{ status: "pending", properties: { name: "XAPI: VM.start" } }],
    });
    await pool.end("OpaqueRef:1");
    await done;
    const task = await tasks.get(id, ada);
    t.match(task, {
      id,
      status: "success",
      tasks: [{ status: "success" }],
    });
    t.equal(task?.tasks?.length, 1);
    t.same(pool.asked, ["VM.start"], "it is asked once");
    t.same(audit, ["success"]);
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "the outcome of a XAPI task that was found again is stored before the pool deletes that task",
  async (t) => {
    const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    const stored: unknown[] = [];
    pool.onDestroy = () => {
      for (const { body } of stepStore.rows.values()) stored.push(body);
    };
    await pool.end("OpaqueRef:1");
    await done;
    t.match(stored, [
      { ref: "OpaqueRef:1", method: "VM.start", ended: { status: "success" } },
    ]);
    t.match(await tasks.get(id, ada), { status: "success" });
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "a task whose end could not be stored is not reported as not begun",
  async (t) => {
    const { open, begin, restart, ...rest } = setUp(t, oneCall);
    const { pool, store, stepStore, clock } = rest;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    // Or it is refused: another server has adopted the task.
    store.isGone = true;
    await pool.end("OpaqueRef:1");
    for (let i = 0; i < 10; i++) {
      clock.pass(100);
      await settle();
    }
    t.not(stepStore.rows.size, 0, "the next server finds what was done");
    store.isGone = false;
    const { tasks, done } = await restart();
    await done;
    t.match(await tasks.get(id, ada), { status: "success" });
    t.same(pool.asked, ["VM.start"], "it is asked once");
    await settle();
    t.equal(stepStore.rows.size, 0);
  },
);

t.test(
  "that a call has not begun is known only when its session has ended",
  async (t) => {
    const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
    pool.isMute = true;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const [step] = stepStore.rows.values();
    t.match(step?.body, { session: "steps of tasks: OpaqueRef:session" });
    const { call } = step!.body as { call: string };
    // Its request arrives after the first search.
    pool.onEndSession = () => {
      const other_config = { "xo-call": call };
      pool.records = { "OpaqueRef:late": { other_config } };
    };
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:late");
    await done;
    t.same(pool.endedSessions, ["OpaqueRef:session"]);
    t.match(await tasks.get(id, ada), { status: "success" });
  },
);

t.test(
  "a session that cannot be ended leaves unknown whether a call will begin",
  async (t) => {
    const { open, begin, restart, pool, clock } = setUp(t, oneCall);
    pool.isMute = true;
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    pool.onEndSession = () => {
      throw new XapiError("RBAC_PERMISSION_DENIED", ["session.logout"]);
    };
    const { tasks, done } = await restart();
    for (let i = 0; i < 40; i++) {
      clock.pass(60_000);
      for (let turn = 0; turn < 5; turn++) await settle();
    }
    await done;
    t.ok(pool.endedSessions.length > 1, "it is tried again");
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: { message: /outcome not known.*its request may still arrive/ },
    });
  },
);

t.test(
  "a call whose session was replaced before it was sent is recorded again",
  async (t) => {
    const { open, begin, pool, stepStore } = setUp(t, oneCall);
    const used = ["OpaqueRef:first", "OpaqueRef:second"];
    pool.onSend = () => used.shift()!;
    pool.session = "OpaqueRef:second";
    await begin(open(), (xapi) => xapi().callAsync("VM.start", [VM]));
    t.same(used, []);
    t.same(pool.asked, ["VM.start"], "the first was not sent");
    const [step] = stepStore.rows.values();
    t.match(step?.body, { session: "steps of tasks: OpaqueRef:second" });
  },
);

t.test(
  "what a task did is read again if the database fails, and not guessed",
  async (t) => {
    for (const isBack of [true, false]) {
      const { open, begin, restart, ...rest } = setUp(t, oneCall);
      const { pool, stepStore, clock } = rest;
      const id = await begin(open(), (xapi) =>
        xapi().callAsync("VM.start", [VM]),
      );
      stepStore.isUnreadable = true;
      const { tasks, done } = await restart();
      for (let i = 0; i < 10; i++) await settle();
      stepStore.isUnreadable = !isBack;
      for (let i = 0; i < 65; i++) {
        clock.pass(1_000);
        await settle();
      }
      if (isBack) await pool.end("OpaqueRef:1");
      await done;
      t.match(
        await tasks.get(id, ada),
        isBack
          ? { status: "success" }
          : {
              status: "interrupted",
              result: { message: /its steps could not be read/ },
            },
      );
      t.same(pool.asked, ["VM.start"]);
    }
  },
);

t.test(
  "a refusal of the pool in the meantime is the task's failure",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:1", new XapiError("SR_FULL", ["1", "2"]));
    await done;
    t.match(await tasks.get(id, ada), {
      status: "failure",
      result: { code: "SR_FULL" },
    });
  },
);

t.test(
  "an error of several calls lists completed and unstarted ones",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t);
    const id = await begin(open(), async (xapi) => {
      await xapi().callAsync("VM.clone", [VM]);
      await xapi().callAsync("VM.provision", [VM]);
      await xapi().callAsync("VM.start", [VM]);
    });
    await pool.end("OpaqueRef:1");
    for (let i = 0; i < 10; i++) await settle();
    const { tasks, done } = await restart();
    await pool.end("OpaqueRef:2");
    await done;
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: {
        code: "INTERRUPTED",
        message:
          /done before: VM.clone; finished by the pool since: VM.provision; no further call was started/,
      },
    });
    t.same(pool.asked, ["VM.clone", "VM.provision"]);
  },
);

t.test(
  "how a task ended that the pool has forgotten is not guessed",
  async (t) => {
    const { open, begin, restart, pool } = setUp(t, oneCall);
    const id = await begin(open(), (xapi) =>
      xapi().callAsync("VM.start", [VM]),
    );
    const { tasks, done } = await restart();
    await pool.end(
      "OpaqueRef:1",
      new XoError("TASK_LOST", { method: "VM.start", reason: "" }),
    );
    await done;
    t.match(await tasks.get(id, ada), {
      status: "interrupted",
      result: {
        message: /outcome not known: VM.start .*its VM is Running now/,
      },
    });
  },
);

t.test(
  "a call whose task was never reported is looked for in the pool",
  async (t) => {
    const record = (status: string, more: object = {}) => ({
      name_label: "Async.VM.start",
      created: "20261121T06:00:00Z",
      status,
      ...more,
    });
    const crash = async () => {
      const all = setUp(t, oneCall);
      all.pool.isMute = true;
      const id = await all.begin(all.open(), (xapi) =>
        xapi().callAsync("VM.start", [VM]),
      );
      return { ...all, id };
    };

    t.test("by properties of the object", async (t) => {
      const { pool, restart, id } = await crash();
      pool.records = { a: record("pending"), b: record("pending") };
      pool.operations = { b: "start" };
      const { tasks, done } = await restart();
      await pool.end("b");
      await done;
      t.match(await tasks.get(id, ada), { status: "success" });
    });

    t.test(
      "no XAPI task of that time: the pool received no request",
      async (t) => {
        const { pool, restart, id } = await crash();
        pool.records = {
          old: record("success", { created: "20261120T06:00:00Z" }),
          other: record("success", { name_label: "Async.VM.clone" }),
        };
        const { tasks, done } = await restart();
        await done;
        t.match(await tasks.get(id, ada), {
          status: "interrupted",
          result: { message: /not started: VM.start/ },
        });
      },
    );

    t.test("ambiguous names are reported", async (t) => {
      const { pool, restart, id } = await crash();
      pool.records = { a: record("pending"), b: record("failure") };
      pool.powerState = "Halted";
      const { tasks, done } = await restart();
      await done;
      t.match(await tasks.get(id, ada), {
        status: "interrupted",
        result: { message: /has 2 tasks of VM.start.*Halted/ },
      });
    });

    t.test(
      "one has succeeded, and the VM is in the expected state",
      async (t) => {
        const { pool, restart, id } = await crash();
        pool.records = { a: record("success"), b: record("failure") };
        const { tasks, done } = await restart();
        await done;
        t.match(await tasks.get(id, ada), { status: "success" });
      },
    );
  },
);

t.test("a resumed task is cancelled in the pool", async (t) => {
  const { open, begin, restart, pool } = setUp(t);
  const id = await begin(open(), (xapi) => xapi().callAsync("VM.start", [VM]));
  const { tasks, done } = await restart();
  for (let i = 0; i < 5; i++) await settle();
  await tasks.abort(id, ada);
  await done;
  t.same(pool.cancelled, ["OpaqueRef:1"]);
  t.match(await tasks.get(id, ada), {
    status: "failure",
    result: { code: "ABORTED" },
  });
});

t.test("tasks of another server are left unchanged", async (t) => {
  const { open, begin, restart, store } = setUp(t);
  const id = await begin(open("there"), (xapi) =>
    xapi().callAsync("VM.start", [VM]),
  );
  const { interrupted } = await restart("here");
  t.same(interrupted, []);
  t.match(store.rows.get(id), { status: "pending" });
});

t.test("a server that stops leaves its tasks to recovery", async (t) => {
  const { open, begin, restart, pool, store } = setUp(t, oneCall);
  const first = open();
  const id = await begin(first, (xapi) => xapi().callAsync("VM.start", [VM]));
  await first.tasks.suspendAll();
  await pool.end("OpaqueRef:1", new XoError("CLOSED", { what: "pool" }));
  await settle();
  t.match(store.rows.get(id), { status: "pending" });
  const { tasks, done } = await restart();
  await pool.end("OpaqueRef:1");
  await done;
  t.match(await tasks.get(id, ada), { status: "success" });
});

t.test("a server that stops begins nothing that is not recorded", async (t) => {
  const { open, begin, restart, pool } = setUp(t, oneCall);
  const first = open();
  let choose = () => undefined as void;
  const chosen = new Promise<void>((resolve) => (choose = resolve));
  await begin(first, async (xapi, work) => {
    await chosen;
    await work.persistStep("item", { name: "begun" });
    return xapi().callAsync("VM.start", [VM]);
  });
  await begin(first, async (xapi) => {
    await chosen;
    return xapi().callAsync("VM.start", [VM]);
  });
  await first.tasks.suspendAll();
  choose();
  for (let i = 0; i < 10; i++) await settle();
  t.same(pool.asked, [], "the next start would ask for it again");
  const { done } = await restart();
  await done;
  t.same(pool.asked, []);
});

t.test("a server that stops writes the known outcomes of tasks", async (t) => {
  const { open, begin, restart, pool, stepStore } = setUp(t, oneCall);
  const first = open();
  const id = await begin(first, async (xapi) => {
    await xapi().callAsync("VM.start", [VM]);
    await new Promise(() => undefined);
  });
  await pool.end("OpaqueRef:1");
  await settle();
  await first.tasks.suspendAll();
  t.match(
    [...stepStore.rows.values()],
    [{ body: { ended: { status: "success" } } }],
    "a delayed step",
  );
  const { tasks, done } = await restart();
  await done;
  t.match(await tasks.get(id, ada), { status: "success" });
});

t.test(
  "an operation with `resume` continues with its persisted data",
  async (t) => {
    const resumed: unknown[] = [];
    const abandoned: unknown[] = [];
    const setUpResume = async () => {
      const all = setUp(t, {
        abandon: async (kept, { task, interrupted }) => {
          const ended = await interrupted.awaitOutcomes();
          const outcomes = ended.map(({ outcome }) => outcome.name);
          abandoned.push([kept, task.taskId, outcomes]);
        },
        resume: (kept, { user: person, task: work }) => {
          resumed.push([kept, person?.name, work.taskId]);
          return true;
        },
      });
      const id = await all.begin(all.open(), async (xapi, work) => {
        await work.persistState({ next: "host 2" });
        await xapi().callAsync("host.evacuate", []);
      });
      return { ...all, id };
    };

    t.test(
      "as the same user, under the same task, when the pool is done",
      async (t) => {
        const { restart, pool, audit, id } = await setUpResume();
        const { tasks, done } = await restart();
        for (let i = 0; i < 10; i++) await settle();
        t.same(resumed, [], "the pool has something to do yet");
        await pool.end("OpaqueRef:1");
        await done;
        t.same(resumed.splice(0), [[{ next: "host 2" }, "ada", id]]);
        t.same(abandoned, []);
        t.match(await tasks.get(id, ada), { status: "success" });
        t.same(audit, ["success"]);
      },
    );

    t.test("not for users who have lost the right", async (t) => {
      const { restart, pool, setPerson, id } = await setUpResume();
      const right = {
        effect: "allow",
        resource: "VM",
        action: "read",
      } as const;
      setPerson(person(new Rights([right])));
      const { tasks, done } = await restart();
      await pool.end("OpaqueRef:1");
      await done;
      t.match(await tasks.get(id, ada), {
        status: "failure",
        result: { code: "FORBIDDEN" },
      });
      t.same(resumed, []);
      t.same(
        abandoned.splice(0),
        [[{ next: "host 2" }, id, ["success"]]],
        "what it has created is deleted",
      );
    });

    t.test("not for deleted users", async (t) => {
      const { restart, pool, setPerson, id } = await setUpResume();
      setPerson(undefined);
      const { tasks, done } = await restart();
      await pool.end("OpaqueRef:1");
      await done;
      t.match(await tasks.get(id, ada), {
        status: "failure",
        result: { code: "FORBIDDEN_OPERATION" },
      });
      t.same(resumed, []);
      t.same(abandoned.splice(0), [[{ next: "host 2" }, id, ["success"]]]);
    });
  },
);

t.test(
  "an operation continues whose task is about another object than its permission",
  async (t) => {
    const { open, begin, restart } = setUp(t, {
      permission: {
        action: "operate:use",
        resource: "VM",
        id: ({ vm }: { vm?: string }) => vm ?? "",
      },
      resume: () => true,
    });
    const id = await begin(
      open(),
      async (_xapi, work) => {
        await work.persistState({ vm: "v" });
        await new Promise(() => undefined);
      },
      // As a restore over REST, whose path has the archive.
      { objectType: "backup-archives", objectId: "a", params: { vm: "v" } },
    );
    const { tasks, done } = await restart();
    await done;
    t.match(await tasks.get(id, ada), { status: "success" });
  },
);
