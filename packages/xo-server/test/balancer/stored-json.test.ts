import t from "tap";
import {
  toPolicy,
  toCurrentRecord,
  toCurrentState,
} from "../../src/balancer/stored-json.js";
import { defaultPolicy } from "../../src/balancer/policy.js";

t.test("a policy of release 0.1 is read with its current names", async (t) => {
  const stored = {
    mode: "automatic",
    goal: "density",
    moveCost: 0.5,
    mostMoves: 7,
    repairs: false,
  };
  t.same(toPolicy(stored), {
    ...defaultPolicy,
    mode: "automatic",
    goal: "consolidate",
    migrationCost: 0.5,
    maxMigrationsPerRun: 7,
    enforceRules: false,
  });
});

t.test("a current name takes precedence over one of release 0.1", async (t) => {
  t.equal(
    toPolicy({ mostMoves: 7, maxMigrationsPerRun: 9 }).maxMigrationsPerRun,
    9,
  );
});

t.test("a run of release 0.1 is read with its current names", async (t) => {
  const score = { locations: 1, groups: 2, room: 0.5 };
  const { goal, stopped, moves } = toCurrentRecord({
    goal: "density",
    stopped: "most-moves",
    moves: [
      { vm: "a", status: "moving", purpose: "repair", begunAt: 1, score },
      { vm: "b", status: "left", purpose: "density" },
    ],
  });
  t.equal(goal, "consolidate");
  t.equal(stopped, "max-migrations");
  t.same(moves, [
    {
      vm: "a",
      status: "migrating",
      purpose: "enforce-rules",
      startedAt: 1,
      score: { hostAffinity: 1, groups: 2, headroom: 0.5 },
    },
    { vm: "b", status: "skipped", purpose: "consolidate" },
  ]);
});

t.test("a current run is read unchanged", async (t) => {
  const run = {
    goal: "performance",
    stopped: "balanced",
    moves: [
      {
        vm: "a",
        status: "done",
        purpose: "overload",
        startedAt: 1,
        score: { hostAffinity: 1, groups: 2, headroom: 0.5 },
      },
    ],
  };
  t.same(toCurrentRecord(run), run);
});

t.test(
  "a state published by a server of release 0.1 is understood",
  async (t) => {
    const since = 1;
    t.same(
      toCurrentState({ since, state: { state: "watching", why: "no-better" } }),
      { since, state: { state: "idle", why: "no-beneficial-migration" } },
    );
    t.same(
      toCurrentState({
        since,
        state: { state: "paused", reason: { code: "others-move", vms: ["a"] } },
      }),
      {
        since,
        state: {
          state: "paused",
          reason: { code: "other-migrations", vms: ["a"] },
        },
      },
    );
  },
);
