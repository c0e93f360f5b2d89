import { XapiError } from "@xo-server/model";
import t from "tap";
import type { PoolObjects } from "../../src/objects/pool-objects.js";
import type { PlanStep } from "../../src/placement/plan-step.js";
import { executePlan } from "../../src/placement/execute-plan.js";
import {
  untrackedTask,
  type TaskContext,
} from "../../src/tasks/task-context.js";
import { FakeClock } from "../fake-clock.js";

/** VMs and hosts that execute calls at once or when the test permits. */
class FakePool {
  readonly states = new Map<string, string>();
  readonly homes = new Map<string, string>();
  readonly delays = new Map<string, number>();
  readonly calls: string[] = [];
  /** Of calls that wait: by method and VM. */
  readonly held = new Map<string, () => void>();
  isHolding = false;
  readonly failing = new Map<string, string>();

  readonly objects: PoolObjects = {
    get: (id: string, type: string) => ({
      id,
      type,
      ref: `ref ${id}`,
      object: { name_label: id, startDelay: this.delays.get(id) ?? 0 },
      xapi: { call: this.#call, callAsync: this.#callAsync },
    }),
    idOf: (ref: string) => ref.slice(4),
    forTask: () => this.objects,
  } as unknown as PoolObjects;

  readonly #call = async (method: string, [vm]: string[]) => {
    const id = vm!.slice(4);
    if (method === "VM.get_power_state") return this.states.get(id) ?? "Halted";
    if (method === "VM.get_resident_on") return `ref ${this.homes.get(id)}`;
    const code = this.failing.get(`${method} ${id}`);
    if (code !== undefined) throw new XapiError(code, []);
    return "";
  };

  readonly #callAsync = async (method: string, [vm, host]: string[]) => {
    const id = vm!.slice(4);
    this.calls.push(`${method} ${id} ${host!.slice(4)}`);
    if (this.isHolding)
      await new Promise<void>((resolve) => this.held.set(id, resolve));
    const code = this.failing.get(`${method} ${id}`);
    if (code !== undefined) throw new XapiError(code, []);
    this.states.set(id, "Running");
    this.homes.set(id, host!.slice(4));
    return "";
  };

  run(id: string, host: string): void {
    this.states.set(id, "Running");
    this.homes.set(id, host);
  }
}

const move = (vm: string, from: string, to: string, after: number[] = []) =>
  ({ kind: "migrate", vm, from, to, after }) as const;
const start = (vm: string, to: string, order = 0): PlanStep => ({
  kind: "start",
  vm,
  to,
  order,
});
const turns = async () => {
  for (let i = 0; i < 50; i++) await Promise.resolve();
};

t.test("migrations and starts as planned; other VMs stay", async (t) => {
  const pool = new FakePool();
  pool.run("a", "x");
  pool.run("b", "y");
  pool.states.set("c", "Suspended");
  const steps = [
    move("a", "x", "y"),
    move("b", "x", "y"),
    start("c", "x"),
    start("d", "x"),
  ];
  const done: string[] = [];
  const outcome = await executePlan(steps, {
    objects: pool.objects,
    work: untrackedTask,
    onDone: ({ vm }) => done.push(vm),
  });
  t.match(outcome, { failed: [], skipped: [], isAborted: false });
  t.equal(outcome.done.length, 4);
  t.same(done.toSorted(), ["a", "b", "c", "d"]);
  t.same(pool.calls.toSorted(), [
    "VM.pool_migrate a y",
    "VM.resume_on c x",
    "VM.start_on d x",
  ]);
});

t.test("the first failure ends the run, running calls complete", async (t) => {
  const pool = new FakePool();
  for (const vm of ["a", "b", "c"]) pool.run(vm, "x");
  pool.isHolding = true;
  pool.failing.set("VM.pool_migrate a", "HOST_NOT_ENOUGH_FREE_MEMORY");
  const steps = [move("a", "x", "y"), move("b", "x", "y"), move("c", "x", "y")];
  const running = executePlan(steps, {
    objects: pool.objects,
    work: untrackedTask,
  });
  while (pool.held.size < 2) await turns();
  pool.held.get("a")!();
  await turns();
  pool.held.get("b")!();
  const outcome = await running;
  t.same(outcome.done, [steps[1]]);
  t.match(outcome.failed, [
    { step: steps[0], error: { code: "HOST_NOT_ENOUGH_FREE_MEMORY" } },
  ]);
  t.same(outcome.skipped, [steps[2]]);
});

t.test("a VM that is not as planned is not changed", async (t) => {
  for (const [prepare, code] of [
    [(pool: FakePool) => pool.run("a", "z"), "INCORRECT_STATE"],
    [(pool: FakePool) => pool.states.set("a", "Halted"), "INCORRECT_STATE"],
    [
      (pool: FakePool) => {
        pool.run("a", "x");
        pool.failing.set("VM.assert_can_boot_here a", "HOST_DISABLED");
      },
      "HOST_DISABLED",
    ],
  ] as const) {
    const pool = new FakePool();
    prepare(pool);
    const outcome = await executePlan([move("a", "x", "y")], {
      objects: pool.objects,
      work: untrackedTask,
    });
    t.match(outcome.failed, [{ error: { code } }]);
    t.same(pool.calls, []);
  }
});

t.test("starts wait for lower orders and their delays", async (t) => {
  const pool = new FakePool();
  const clock = new FakeClock();
  pool.delays.set("a", 30).set("b", 10);
  const steps = [start("c", "x", 7), start("a", "x", 1), start("b", "x", 1)];
  const running = executePlan(steps, {
    objects: pool.objects,
    work: untrackedTask,
    clock,
  });
  while (clock.waiting === 0) await turns();
  t.same(pool.calls, ["VM.start_on a x", "VM.start_on b x"]);
  clock.pass(29_000);
  await turns();
  t.equal(pool.calls.length, 2, "the longest delay counts");
  clock.pass(1_000);
  t.equal((await running).done.length, 3);
  t.equal(pool.calls[2], "VM.start_on c x");
});

t.test("an abort ends the wait; nothing more starts", async (t) => {
  const pool = new FakePool();
  const clock = new FakeClock();
  const abort = new AbortController();
  pool.delays.set("a", 30);
  const work: TaskContext = { ...untrackedTask, signal: abort.signal };
  const running = executePlan([start("a", "x", 1), start("b", "x", 2)], {
    objects: pool.objects,
    work,
    clock,
  });
  while (clock.waiting === 0) await turns();
  abort.abort();
  const outcome = await running;
  t.match(outcome, { isAborted: true, failed: [] });
  t.same(
    outcome.skipped.map(({ vm }) => vm),
    ["b"],
  );
  t.equal(clock.waiting, 0);
});
