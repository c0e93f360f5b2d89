import type { BalancerRun } from "@xo-server/store";
import t from "tap";
import { vmsInCooldown, runHistoryOf } from "../../src/balancer/recent-runs.js";
import type { MoveStatus } from "../../src/balancer/run-record.js";

type Moves = readonly (readonly [vm: string, MoveStatus, endedAt?: number])[];

/** At one moment. */
function runAt(
  time: number,
  status: BalancerRun["status"],
  moves: Moves = [],
): BalancerRun {
  const body = {
    by: { cause: "automatic" },
    moves: moves.map(([vm, of, endedAt]) => ({ vm, status: of, endedAt })),
  };
  const times = { startedAt: time, endedAt: time };
  return { id: String(time), pool: "p", owner: "o", status, body, ...times };
}

t.test(
  "failures are counted until a run succeeds or an administrator resets them",
  async (t) => {
    const failed = [3, 2, 1].map((time) => runAt(time, "failure"));
    t.match(runHistoryOf(failed, 0), { failures: 3, failedAt: 3 });
    t.match(
      runHistoryOf(failed, 3),
      { failures: 1 },
      "at that moment they did",
    );
    t.match(runHistoryOf(failed, 4), { failures: 0, failedAt: undefined });
    const well = [runAt(4, "success"), ...failed];
    t.match(runHistoryOf(well, 0), { failures: 0 });
    const others = [runAt(6, "dry-run"), runAt(5, "stopped"), ...failed];
    t.match(runHistoryOf(others, 0), { failures: 3 }, "these do not count");
  },
);

t.test("only started migrations were done", async (t) => {
  const runs = [
    runAt(9, "stopped", [["d", "skipped"]]),
    runAt(8, "dry-run", [["c", "planned"]]),
    runAt(7, "success", [["a", "done", 6]]),
    runAt(5, "failure", [
      ["b", "failed", 4],
      ["e", "waiting"],
    ]),
    runAt(3, "interrupted", [["f", "migrating"]]),
  ];
  t.match(runHistoryOf(runs, 0), { movedAt: 7, dryRunAt: 8 });
  t.same([...vmsInCooldown(runs, 0)], ["a", "b", "f"]);
  t.same([...vmsInCooldown(runs, 3)], ["a", "b"], "f was seen until 3");
  t.same([...vmsInCooldown(runs, 6)], []);
});

t.test("a run without details has no text", async (t) => {
  t.same(runHistoryOf([], 0), {
    movedAt: undefined,
    dryRunAt: undefined,
    failures: 0,
    ineffective: 0,
    stop: undefined,
    failedAt: undefined,
  });
});
