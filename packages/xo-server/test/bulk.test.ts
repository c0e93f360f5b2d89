import { XapiError } from "@xo-server/model";
import t from "tap";
import { Bulk, type BulkPlan } from "../src/bulk/bulk.js";
import { readBulkLog, type ItemState } from "../src/bulk/bulk-log.js";
import { TurnLimiter } from "../src/bulk/turn-limiter.js";
import type { TaskContext } from "../src/tasks/task-context.js";
import { setUp, many, settle, ada, wait } from "./bulk-calls.js";

const subject = {
  name: "bulk",
  objectType: "bulk",
  objectId: "",
  userId: "u",
  params: {},
};
const plan: BulkPlan = {
  method: "vm.start",
  params: {},
  idParameter: "id",
  concurrency: 3,
  stopOnError: false,
};

/** Calls that end when a test says so. */
function createCalls() {
  const open = new Map<string, (error?: Error) => void>();
  const begun: string[] = [];
  const run = (id: string, part: TaskContext) =>
    new Promise<void>((resolve, reject) => {
      begun.push(id);
      part.signal.addEventListener("abort", () => {
        reject(new Error("aborted"));
      });
      open.set(id, (error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  return { open, begun, run };
}

const turns = new TurnLimiter();

async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await settle();
}

t.test("a limited number at a time, each with an end of its own", async (t) => {
  const { tasks } = setUp(t);
  const { open, begun, run } = createCalls();
  const { id, result } = await tasks.run(subject, (work) =>
    new Bulk({ plan, ids: many(5), work, run, turns }).run(),
  );
  result.catch(() => undefined);
  await until(() => begun.length === 3);
  t.match(await tasks.get(id, ada), {
    counts: { total: 5, succeeded: 0, failed: 0, running: 3, waiting: 2 },
    tasks: [{ properties: { name: "vm.start v0" }, status: "pending" }],
  });
  open.get("v1")!();
  await until(() => begun.length === 4);
  t.same(begun, ["v0", "v1", "v2", "v3"]);
  t.match(await tasks.get(id, ada), {
    progress: 20,
    counts: { succeeded: 1, running: 3, waiting: 1 },
  });
  open.get("v0")!(new XapiError("SR_FULL", ["1", "2"]));
  await until(() => begun.length === 5);
  for (const name of ["v2", "v3", "v4"]) open.get(name)!();
  t.match(await tasks.get(id, ada, wait), {
    status: "failure",
    progress: 100,
    counts: { succeeded: 4, failed: 1, running: 0, waiting: 0 },
    result: {
      code: "SOME_FAILED",
      succeeded: 4,
      failed: [
        { id: "v0", error: { code: "SR_FULL", message: "SR_FULL(1, 2)" } },
      ],
    },
  });
});

t.test(
  "when aborted, no further item starts and running ones are notified",
  async (t) => {
    const { tasks } = setUp(t);
    const { begun, run } = createCalls();
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({ plan, ids: many(9), work, run, turns }).run(),
    );
    result.catch(() => undefined);
    await until(() => begun.length === 3);
    await tasks.abort(id, ada);
    t.match(await tasks.get(id, ada, wait), {
      status: "failure",
      result: { code: "ABORTED", succeeded: 0, notBegun: 6 },
    });
    t.equal(begun.length, 3);
  },
);

t.test("errors of XAPI are reported in words", async (t) => {
  const { tasks } = setUp(t);
  const run = () =>
    Promise.reject(
      new XapiError("VM_BAD_POWER_STATE", ["OpaqueRef:1", "running", "halted"]),
    );
  const { id, result } = await tasks.run(subject, (work) =>
    new Bulk({ plan, ids: many(1), work, run, turns }).run(),
  );
  result.catch(() => undefined);
  t.match(await tasks.get(id, ada, wait), {
    result: {
      failed: [
        {
          error: {
            code: "VM_BAD_POWER_STATE",
            message: "VM state is halted but should be running",
          },
        },
      ],
    },
  });
});

t.test("with stopOnError none starts after a failure", async (t) => {
  const { tasks } = setUp(t);
  const { open, begun, run } = createCalls();
  const careful = { ...plan, stopOnError: true };
  const { id, result } = await tasks.run(subject, (work) =>
    new Bulk({ plan: careful, ids: many(9), work, run, turns }).run(),
  );
  result.catch(() => undefined);
  await until(() => begun.length === 3);
  open.get("v0")!(new XapiError("SR_FULL"));
  open.get("v1")!();
  open.get("v2")!();
  t.match(await tasks.get(id, ada, wait), {
    result: { succeeded: 2, notBegun: 6, failed: [{ id: "v0" }] },
  });
  t.equal(begun.length, 3);
});

t.test(
  "ten thousand items cost little memory, and their task stays small",
  async (t) => {
    const { tasks, stepStore, store } = setUp(t);
    const wide = { ...plan, concurrency: 100, isOneCall: true };
    const run = async (id: string) => {
      await settle();
      if (id.endsWith("7")) throw new XapiError("SR_FULL", ["x".repeat(500)]);
    };
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({ plan: wide, ids: many(10_000), work, run, turns }).run(),
    );
    result.catch(() => undefined);
    const task = await tasks.get(id, ada, wait);
    t.match(task, {
      counts: { total: 10_000, succeeded: 9_000, failed: 1_000 },
      result: { succeeded: 9_000, failedLeftOut: 900 },
    });
    const parts = task?.tasks ?? [];
    t.equal(parts.length, 50);
    t.ok(
      parts.every(({ status }) => status === "failure"),
      "what succeeded is evicted first",
    );
    t.ok(JSON.stringify(store.rows.get(id)).length < 150_000);
    t.ok(stepStore.written <= 20_000, `${stepStore.written} small rows`);
    t.ok(stepStore.puts < 2_000, `${stepStore.puts} writes`);
    await settle();
    t.equal(stepStore.rows.size, 0, "none is left when it has ended");
  },
);

t.test("after a restart only unfinished items run", async (t) => {
  const { tasks } = setUp(t);
  const states = new Map<number, ItemState>([
    [0, { name: "succeeded" }],
    [1, { name: "failed", error: { message: "no" } }],
    [3, { name: "begun", part: "x.4" }],
  ]);
  const done: string[] = [];
  const { result } = await tasks.run(subject, (work) =>
    new Bulk({
      plan: { ...plan, concurrency: 1 },
      ids: many(5),
      work,
      states,
      turns,
      run: async (id) => done.push(id),
      settle: async ({ part }, { id }) => done.push(`${id} as ${part}`),
    }).run(),
  );
  await t.rejects(result, {
    code: "SOME_FAILED",
    data: { result: { succeeded: 4, failed: [{ id: "v1" }] } },
  });
  t.same(done, ["v3 as x.4", "v2", "v4"], "what was in flight first");
});

t.test(
  "an item that is run again after a restart is looked for under its new part after the next one",
  async (t) => {
    const { tasks, steps } = setUp(t);
    const states = new Map<number, ItemState>([
      [0, { name: "begun", part: "of the first process" }],
    ]);
    const { begun, run } = createCalls();
    const { id, result } = await tasks.run(subject, (work) =>
      new Bulk({
        plan: { ...plan, isOneCall: true },
        ids: many(1),
        work,
        run,
        turns,
        states,
        settle: (_, { again }) => again(),
      }).run(),
    );
    result.catch(() => undefined);
    await until(() => begun.length === 1);
    for (let i = 0; i < 5; i++) await settle();
    const kept = readBulkLog(await steps.read(id)).states.get(0);
    t.match(kept, { name: "begun", part: `${id}.1` });
  },
);
