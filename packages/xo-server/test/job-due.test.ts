import t from "tap";
import { decideSchedule, LATE_MS } from "../src/jobs/schedule-decision.js";
import { createTimes } from "../src/schedules/times.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const two = createTimes("0 2 * * *", "UTC");
const at = (time: string) => Date.parse(`2026-11-${time}:00Z`);
const once = { missed: "once" } as const;
const due = (
  schedule: Parameters<typeof decideSchedule>[0],
  mark: string,
  now: number,
) => decideSchedule(schedule, two, { mark: at(mark), now });

t.test("nothing is due before its time", async (t) => {
  t.same(due(once, "20T02:00", at("21T01:59")), {
    kind: "wait",
    at: at("21T02:00"),
  });
});

t.test("due jobs run, also a little late", async (t) => {
  const time = at("21T02:00");
  const run = { kind: "run", dueAt: time, until: time };
  for (const missed of ["once", "skip"] as const)
    for (const late of [0, 1, LATE_MS])
      t.same(due({ missed }, "20T02:00", time + late), run);
});

t.test("the last missed run is repeated, once", async (t) => {
  const time = at("21T02:00");
  const run = { kind: "run", dueAt: time, until: time };
  t.same(due(once, "11T02:00", at("21T09:00")), run);
  t.same(due(once, "21T02:00", at("21T09:00")), {
    kind: "wait",
    at: at("22T02:00"),
  });
});

t.test("missed runs are skipped if configured, or too old", async (t) => {
  const time = at("21T02:00");
  const skip = { kind: "skip", dueAt: time, until: time, reason: String };
  t.match(due({ missed: "skip" }, "11T02:00", at("21T09:00")), skip);
  const limited = { missed: "once", missedLimitMs: 6 * HOUR } as const;
  t.match(due(limited, "11T02:00", at("21T09:00")), skip);
  t.match(due(limited, "11T02:00", at("21T08:00")), { kind: "run" });
});

t.test("a clock that is set back a little runs nothing twice", async (t) => {
  t.same(due(once, "21T02:00", at("21T01:30")), {
    kind: "wait",
    at: at("22T02:00"),
  });
});

t.test(
  "after a clock in the future, schedules start again from now",
  async (t) => {
    t.same(due(once, "21T02:00", at("19T02:00")), { kind: "reset" });
  },
);

t.test("a clock that jumps never runs a job twice for one time", async (t) => {
  const seed = 20261121;
  t.comment(`seed ${seed}`);
  const random = randomOf(seed);
  const times = createTimes("*/10 * * * *", "UTC");
  let now = at("01T00:00");
  let mark = now;
  const done = new Set<number>();
  for (let i = 0; i < 3_000; i++) {
    // Forward by up to an hour, sometimes by days, sometimes back by up to an hour.
    const kind = random();
    now +=
      kind < 0.05
        ? -HOUR * random()
        : kind < 0.1
          ? 3 * DAY * random()
          : HOUR * random();
    const one = decideSchedule(once, times, { mark, now });
    if (one.kind === "wait") continue;
    t.not(one.kind, "reset");
    if (one.kind !== "run") continue;
    if (done.has(one.dueAt)) t.fail(`twice: ${one.dueAt}`);
    if (one.dueAt > now) t.fail("before its time");
    if (now - one.dueAt > 600_000) t.fail("not the last");
    done.add(one.dueAt);
    mark = one.until;
  }
  t.ok(done.size > 1_000, `${done.size} times`);
});

function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
