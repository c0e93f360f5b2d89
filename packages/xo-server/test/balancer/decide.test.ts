import t from "tap";
import {
  MAX_FAILURES,
  waitingStateOf,
  SETTLE_MS,
  decide,
  type PoolConditions,
} from "../../src/balancer/decide.js";
import { defaultPolicy } from "../../src/balancer/policy.js";

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;
const policy = { ...defaultPolicy, mode: "automatic" } as const;
const counts = { failures: 0, ineffective: 0 };
const conditions: PoolConditions = {
  now: NOW,
  policy,
  measuredAt: NOW,
  ...counts,
};
const found = { moves: 2, stopped: "max-migrations" } as const;

t.test("a pool that is off is off, whatever else is so", async (t) => {
  const off = { ...policy, mode: "off" } as const;
  const pause = { code: "not-connected" } as const;
  t.same(waitingStateOf({ ...conditions, policy: off, pause }), {
    state: "off",
  });
});

t.test("a reason to pause takes precedence, except for one", async (t) => {
  const pause = { code: "not-connected" } as const;
  const rest = waitingStateOf({
    ...conditions,
    pause,
    failures: 9,
    movedAt: NOW,
  });
  t.same(rest, { state: "paused", reason: pause });
});

t.test("without a conflict it is planned", async (t) => {
  t.equal(waitingStateOf(conditions), undefined);
});

t.test(
  "after a run the balancer waits until all statistics are newer",
  async (t) => {
    const movedAt = NOW - MINUTE;
    const cooling = (measuredAt: number) =>
      waitingStateOf({ ...conditions, movedAt, measuredAt });
    t.same(cooling(movedAt + SETTLE_MS - 1), {
      state: "cooldown",
      why: "measuring",
      until: movedAt + SETTLE_MS,
    });
    t.equal(cooling(movedAt + SETTLE_MS), undefined);
  },
);

t.test("a dry run is not recorded again immediately", async (t) => {
  const dry = { ...policy, mode: "dry-run", coolDownSeconds: 60 } as const;
  const dryRunAt = NOW - MINUTE + 1;
  const until = dryRunAt + MINUTE;
  const expected = { state: "cooldown", why: "dry-run", until };
  t.same(waitingStateOf({ ...conditions, policy: dry, dryRunAt }), expected);
  t.equal(
    waitingStateOf({ ...conditions, policy: dry, dryRunAt: NOW - MINUTE }),
    undefined,
  );
  t.equal(
    waitingStateOf({ ...conditions, dryRunAt }),
    undefined,
    "nothing was moved",
  );
});

t.test("it backs off longer each time, and then permanently", async (t) => {
  const after = (failures: number, ms: number) =>
    waitingStateOf({ ...conditions, failures, failedAt: NOW - ms });
  t.match(after(1, MINUTE - 1), { state: "back-off", failures: 1 });
  t.equal(after(1, MINUTE), undefined);
  t.match(after(2, 2 * MINUTE - 1), { state: "back-off", until: NOW + 1 });
  t.equal(after(2, 2 * MINUTE), undefined);
  const last = after(MAX_FAILURES, 1_000 * MINUTE);
  t.same(last, { state: "back-off", failures: MAX_FAILURES });
});

t.test("an imbalance has to last", async (t) => {
  const held = { act: "rest", state: { state: "pending", moves: 2 } };
  t.match(decide(conditions, found), held);
  const since = NOW - policy.holdSeconds * 1000;
  t.match(decide(conditions, { ...found, since: since + 1 }), {
    act: "rest",
    state: { state: "pending", until: NOW + 1 },
  });
  t.same(decide(conditions, { ...found, since }), { act: "move" });
});

t.test("without migrations the reason is shown", async (t) => {
  const verdict = (stopped: "balanced" | "no-beneficial-migration") =>
    decide(conditions, { moves: 0, stopped });
  const watching = (why: string) => ({
    act: "rest",
    state: { state: "idle", why },
  });
  t.same(verdict("balanced"), watching("balanced"));
  t.same(
    verdict("no-beneficial-migration"),
    watching("no-beneficial-migration"),
  );
});
