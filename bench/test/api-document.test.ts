import t from "tap";
import { toResults } from "../src/api/api-bench.js";
import { apiDocument } from "../src/api/api-document.js";
import type { ApiRow, Section } from "../src/api/api-rows.js";
import { checkShape } from "../src/api/api-smoke.js";
import { checkTargets } from "../src/api/api-targets.js";
import { toResult, type Result } from "../src/harness/result.js";
import { statusOf } from "../src/harness/target.js";
import { sampleReport } from "./sample-report.js";

const line = (
  place: Section,
  mode: string,
  figures: Record<string, number>,
): Result => toResult({ pool: "A", mode, place }, { runs: [figures] });

const good = [
  line("all-objects", "xo.getAllObjects", {
    objects: 100_000,
    firstMs: 5,
    ratio: 1.2,
    longestOwnBlockMs: 4,
  }),
  line("rest-list", "GET", { perCoreSecond: 11, longestOwnBlockMs: 4 }),
  line("fan-out", "no throttle", { p99Ms: 80 }),
  ...["calls and responses", "notifications to the server"].flatMap((what) => [
    line("messages", `100 bytes, ${what}`, { perSecond: 150_000 }),
    line("messages", `2200 bytes, ${what}`, { bytesPerSecond: 300e6 }),
  ]),
  line("rights", "xo.getAllObjects, by id", { added: 0.05 }),
];

const missed = (results: readonly Result[]) =>
  checkTargets(results)
    .filter((target) => statusOf(target) !== "met")
    .map(({ requirement }) => requirement.split(":")[0]);

t.test("a run that meets all requirements meets all targets", async (t) => {
  t.same(missed(good), []);
});

t.test("each target can be missed separately", async (t) => {
  const worse: [Section, string, Record<string, number>][] = [
    ["all-objects", "x", { firstMs: 51, ratio: 1.31, longestOwnBlockMs: 11 }],
    ["rest-list", "x", { perCoreSecond: 9, longestOwnBlockMs: 11 }],
    ["fan-out", "no throttle", { p99Ms: 101 }],
    ["messages", "100 bytes, calls and responses", { perSecond: 138_585 }],
    ["rights", "x", { added: 0.11 }],
  ];
  for (const [place, mode, figures] of worse) {
    const others = good.filter(
      (one) =>
        one.place !== place || (place === "messages" && one.mode !== mode),
    );
    const results = [...others, line(place, mode, figures)];
    t.equal(missed(results).length, Object.keys(figures).length, place);
  }
});

t.test("an unmeasured target is not met", async (t) => {
  t.ok(checkTargets([]).every(({ met }) => met === undefined));
});

t.test("a row may have several lines", async (t) => {
  const row = { section: "rights", mode: "x", pool: "A" } as ApiRow;
  const results = toResults({
    row,
    runs: [{ "by id/ratio": 1, "by tag/ratio": 2, "by id/ms": 3 }],
  });
  t.match(results, [
    { mode: "by id", ratio: 1, ms: 3 },
    { mode: "by tag", ratio: 2 },
  ]);
});

t.test("a failed row has its reason in the document", async (t) => {
  const row = { section: "fan-out", mode: "x", pool: "A" } as ApiRow;
  const failed = toResults({ row, runs: [], failure: "the pool is gone" });
  t.match(apiDocument(sampleReport(failed)), /not measured: the pool is gone/);
  t.throws(() => checkShape(sampleReport(failed)), /the pool is gone/);
});

t.test("the document has a table for each section", async (t) => {
  const text = apiDocument(sampleReport(good));
  t.match(text, /## Rights: A/);
  t.match(text, /\*\*Own blocks\*\*/);
});
