import t from "tap";
import { benchesToRun } from "./benches-to-run.js";

const benches = ["pools", "web", "placement", "events", "cluster", "fleet"];

t.test("runs a bench whose code has changed", async (t) => {
  const changed = ["bench/src/web/web-bench.ts"];
  for (const commits of [0, 1, 2])
    t.same(benchesToRun(benches, changed, commits), ["web"]);
});

t.test(
  "runs each bench of a changed package once in three commits",
  async (t) => {
    const changed = ["packages/inventory/src/query/page.ts"];
    const runs = [30, 31, 32].map((n) => benchesToRun(benches, changed, n));
    t.same(runs, [["pools", "events"], ["web", "cluster"], ["fleet"]]);
  },
);

t.test("runs no bench that does not measure what has changed", async (t) => {
  const changed = ["packages/placement/src/plan.ts", "docs/api.md"];
  const runs = [0, 1, 2].flatMap((n) => benchesToRun(benches, changed, n));
  t.same(runs, ["placement"]);
});

t.test("libraries and shared code can break any bench", async (t) => {
  for (const file of ["package-lock.json", "bench/src/harness/publish.ts"]) {
    const runs = [0, 1, 2].flatMap((n) => benchesToRun(benches, [file], n));
    t.same(runs.toSorted(), benches.toSorted());
  }
});
