import t from "tap";
import { PlanSchedule } from "../../src/placement/plan-schedule.js";
import type { PlanStep } from "../../src/placement/plan-step.js";

const move = (vm: string, from: string, to: string, after: number[] = []) =>
  ({ kind: "migrate", vm, from, to, after }) as const;
const start = (vm: string, to: string, order = 0) =>
  ({ kind: "start", vm, to, order }) as const;

/** Begins all that may begin now. */
function begin(schedule: PlanSchedule, order = Infinity): number[] {
  const begun: number[] = [];
  for (;;) {
    const one = schedule.next(order);
    if (one === undefined) return begun;
    schedule.begin(one);
    begun.push(one);
  }
}

const wide = { parallel: 100, perHost: 100 };

t.test("a step begins when all that it waits for are done", async (t) => {
  const steps = [
    move("a", "x", "y"),
    move("b", "x", "y"),
    move("c", "y", "x", [0, 1]),
  ];
  const schedule = new PlanSchedule(steps, wide);
  t.same(begin(schedule), [0, 1]);
  schedule.end(0, true);
  t.same(begin(schedule), []);
  schedule.end(1, true);
  t.same(begin(schedule), [2]);
});

t.test("a failed session is awaited in vain", async (t) => {
  const steps = [move("a", "x", "y"), move("b", "y", "x", [0])];
  const schedule = new PlanSchedule(steps, wide);
  t.same(begin(schedule), [0]);
  schedule.end(0, false);
  t.same(begin(schedule), []);
  t.same([schedule.done, schedule.waiting], [[], [1]]);
});

t.test("no more at a time than the limits allow", async (t) => {
  const steps = ["a", "b", "c", "d"].map((vm) => move(vm, vm, "to"));
  t.same(
    begin(new PlanSchedule(steps, { parallel: 3, perHost: 9 })),
    [0, 1, 2],
  );
  const schedule = new PlanSchedule(
    [...steps, move("e", "e", "other"), move("f", "to", "f")],
    { parallel: 9, perHost: 2 },
  );
  t.same(begin(schedule), [0, 1, 4], "a host sends and gets two");
  schedule.end(1, true);
  t.same(begin(schedule), [2]);
});

t.test("starts wait for lower orders, moves do not", async (t) => {
  const steps = [start("a", "x", 5), start("b", "x", 2), move("c", "x", "y")];
  const schedule = new PlanSchedule(steps, wide);
  t.equal(schedule.order, 2);
  t.same(begin(schedule, 2), [1, 2]);
  t.equal(schedule.order, 2);
  schedule.end(1, true);
  t.equal(schedule.order, 5);
  t.same(begin(schedule, 5), [0]);
  schedule.end(0, true);
  t.equal(schedule.order, Infinity);
});

t.test("random plans: each step once, never before its time", async (t) => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  t.comment("seed 7");
  for (let round = 0; round < 200; round++) {
    const steps: PlanStep[] = Array.from({ length: 30 }, (_, i) => {
      const after = [random(i + 1), random(i + 1)].filter((one) => one < i);
      return move(`v${i}`, `h${random(5)}`, `h${random(5)}`, after);
    });
    const limits = { parallel: 1 + random(6), perHost: 1 + random(3) };
    const schedule = new PlanSchedule(steps, limits);
    const running = new Set<number>();
    const done = new Set<number>();
    while (done.size < steps.length) {
      for (const one of begin(schedule)) {
        const { after = [] } = steps[one]!;
        if (!after.every((other) => done.has(other))) t.fail("too early");
        running.add(one);
      }
      if (running.size > limits.parallel) t.fail("too many");
      for (const host of ["h0", "h1", "h2", "h3", "h4"]) {
        const busy = [...running].filter((one) =>
          [steps[one]!.from, steps[one]!.to].includes(host),
        );
        if (busy.length > limits.perHost) t.fail("too many of a host");
      }
      if (running.size === 0) return t.fail("it stands still");
      const ends = [...running][random(running.size)]!;
      running.delete(ends);
      done.add(ends);
      schedule.end(ends, true);
    }
  }
  t.pass("200 plans");
});
