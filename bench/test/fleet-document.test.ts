import t from "tap";
import { fleetDocument } from "../src/fleet/fleet-document.js";
import { checkShape } from "../src/fleet/fleet-shape.js";
import { checkTargets } from "../src/fleet/fleet-targets.js";
import { statusOf } from "../src/harness/target.js";
import type { Figures } from "../src/harness/figures.js";
import { toResult, type Report, type Result } from "../src/harness/result.js";
import { sampleReport } from "./sample-report.js";

const live = {
  ms: 9000,
  objects: 1_476_300,
  rssBytes: 2e9,
  loadPeakRssBytes: 2.1e9,
  retainedBytes: 1.9e9,
  loadBlockLongestMs: 30,
  loadBlockLongestOwnMs: 12,
  restCpuPercent: 1,
  churnCpuPercent: 25,
  p99Ms: 400,
  churnBlockLongestMs: 25,
  churnBlockLongestOwnMs: 21,
  peakRssBytes: 2.5e9,
};
const views = {
  viewsMs: 4000,
  viewObjects: 900_000,
  feedBytesPerSecond: 29_000,
};
const day = {
  objects: 1_476_300,
  changes: 17_280_000,
  rssBytes: 2.4e9,
  rssBytesPerHour: 1e6,
  heapBytesPerHour: 100,
};

function row(mode: string, figures: Figures, pool = "100x1000"): Result {
  return toResult({ pool, mode, place: "" }, { runs: [figures] });
}

const results = [
  row("mirror", live),
  row("views", { ...live, ...views, peakRssBytes: 4.1e9 }),
  row("day", day),
  toResult(
    { pool: "100x1000", mode: "restart", place: "" },
    { runs: [], failure: "no disk" },
  ),
  row("pool", { ...live, ...views, churnCpuPercent: 1.9 }, "A"),
];

const report = (all: readonly Result[]): Report => sampleReport(all);

t.test("each target is compared with its figure", async (t) => {
  t.strictSame(checkTargets(results).map(statusOf), [
    "met",
    "met",
    "**missed**",
    "met",
    "**missed**",
    "**missed**",
    "**missed**",
    "met",
    "met",
  ]);
});

t.test(
  "a fleet of another size is not compared with the targets",
  async (t) => {
    const small = [row("mirror", live, "3x20"), row("pool", live, "C")];
    t.strictSame(
      [...new Set(checkTargets(small).map(statusOf))],
      ["not measured"],
    );
  },
);

t.test(
  "the document has the figures of each row that was measured",
  async (t) => {
    const text = fleetDocument(report(results));
    t.match(text, "100 pools of 1000 VMs each");
    t.match(text, "| objects | 1,476,300 | 1,476,300 | 1,476,300 |");
    t.match(text, "| all views built in |  | 4,000 ms | 4,000 ms |");
    t.match(text, "| RSS grows by | 1.000 MB an hour |");
    t.match(text, "Not measured: restart: no disk.");
    t.notMatch(text, "## Restart");
  },
);

t.test("a smoke run fails when a row lacks a figure", async (t) => {
  t.throws(() => checkShape(report(results)), { message: /restart: no disk/ });
  const measured = results.filter(({ mode }) => mode !== "restart");
  t.doesNotThrow(() => checkShape(report(measured)));
  const { p99Ms, ...without } = live;
  t.throws(() => checkShape(report([row("mirror", without)])), {
    message: /mirror: no p99Ms/,
  });
  t.ok(p99Ms);
});
