import type { VerifyOptions } from "@xo-server/inventory";
import t from "tap";
import { VerificationSchedule } from "../src/objects/verification-schedule.js";
import { createLoggers } from "../src/log/logger.js";
import { FakeClock } from "./fake-clock.js";

const logger = createLoggers({
  destination: { write: () => undefined },
}).named("test");

function setUp(intervalMs = 1_000) {
  const clock = new FakeClock();
  const compared: string[] = [];
  const stale = new Set<string>();
  const inventory = {
    pools: ["a", "b", "c"],
    mirrorStatus: (id: string) => ({
      state: "watching" as const,
      ...(stale.has(id) ? { staleSince: 1 } : {}),
    }),
    counts: (id: string) =>
      new Map(
        id === "a"
          ? [["VM", 2]]
          : [
              ["host", 1],
              ["VM", 2],
            ],
      ),
    verify: async (id: string, { classes }: VerifyOptions = {}) => {
      compared.push(`${id} ${classes?.join()}`);
      if (id === "c") throw new Error("not now");
      return { classes: 1, records: 1, differences: [], failed: [] };
    },
  };
  const schedule = new VerificationSchedule({
    inventory: inventory as never,
    intervalMs,
    clock,
    logger,
  });
  schedule.start();
  const advance = async (ms: number) => {
    clock.pass(ms);
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return { clock, compared, stale, schedule, advance };
}

t.test("one class of one pool per interval, in turn", async (t) => {
  const { compared, schedule, advance } = setUp();
  await advance(999);
  t.same(compared, []);
  await advance(1);
  t.same(compared, ["a VM"]);
  for (let i = 0; i < 7; i++) await advance(1_000);
  t.same(compared, [
    "a VM",
    "b VM",
    "c VM",
    "a VM",
    "b host",
    "c host",
    "a VM",
    "b VM",
  ]);
  await schedule.stop();
  await advance(10_000);
  t.equal(compared.length, 8);
});

t.test("pools that are not followed are left out", async (t) => {
  const { compared, stale, schedule, advance } = setUp();
  stale.add("a").add("c");
  for (let i = 0; i < 3; i++) await advance(1_000);
  t.same(compared, ["b VM", "b host", "b VM"]);
  stale.add("b");
  await advance(1_000);
  t.equal(compared.length, 3);
  await schedule.stop();
});

t.test("0: never", async (t) => {
  const { compared, clock, schedule, advance } = setUp(0);
  await advance(1_000_000);
  t.same(compared, []);
  await schedule.stop();
  t.equal(clock.waiting, 0);
});
