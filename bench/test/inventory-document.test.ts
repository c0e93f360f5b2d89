import t from "tap";
import { toResult, type Report, type Result } from "../src/harness/result.js";
import { statusOf } from "../src/harness/target.js";
import { fleetRows } from "../src/inventory/fleet-rows.js";
import { inventoryDocument } from "../src/inventory/inventory-document.js";
import { checkTargets } from "../src/inventory/inventory-targets.js";
import { rowName, type Row } from "../src/inventory/row.js";
import { fullScale, smokeScale } from "../src/inventory/scale.js";
import { simulatedRows } from "../src/inventory/simulated-rows.js";
import { checkShape } from "../src/inventory/smoke.js";
import { toResults } from "../src/inventory/split-result.js";
import { sampleReport } from "./sample-report.js";

const result = (
  place: Row["section"],
  mode: string,
  figures: Record<string, number>,
  pool = "A",
): Result => toResult({ pool, mode, place }, { runs: [figures] });

const work = { cpuMs: 3, longestBlockMs: 4, longestOwnBlockMs: 2 };
const good = [
  result("queries", "count", { ms: 40, worstMs: 45, ...work }, "100,000 VMs"),
  result(
    "queries",
    "the first query: builds all views",
    { ms: 9e3, ...work },
    "100,000 VMs",
  ),
  result("fan-out", "1000 sockets", {
    encodingsPerChange: 1,
    cpuUsPerReader: 11,
    plainCpuUsPerReader: 10,
  }),
  result("churn", "mirror alone", { cpuPercent: 1.2 }),
  result("churn", "views, 0 readers", { cpuPercent: 1.5 }),
  result("churn", "views, 1 readers", {
    bytesPerSecondAndReader: 20e3,
    bothPercent: 4,
  }),
  result("restart", "inventory", { allThereMs: 800 }),
  result("restart", "xo-server", { allThereMs: 900 }),
  result("memory", "inventory", {
    retainedBytes: 130e6,
    bytes: 100e6,
    retainedHeapBytesPerObject: 100,
  }),
  result("memory", "npm xen-api", { retainedBytes: 300e6 }),
  result("second-read", "records 90 %", { hitShare: 0.85 }, "5,000 VMs"),
  result("second-read", "views 90 %", { hitShare: 0.85 }, "5,000 VMs"),
];

const reportOf = (results: readonly Result[]): Report => sampleReport(results);

t.test("targets are met, missed or not measured", async (t) => {
  t.same(new Set(checkTargets(good).map(statusOf)), new Set(["met"]));
  t.same(new Set(checkTargets([]).map(statusOf)), new Set(["not measured"]));
  const slow = [
    ...good,
    result("queries", "slow", { ms: 40, worstMs: 51, ...work }, "100,000 VMs"),
  ];
  t.same(
    checkTargets(slow).filter(({ met }) => met === false).length,
    1,
    "the slowest kind of question counts",
  );
});

t.test("targets are about the whole pool, not a smoke run's", async (t) => {
  const small = good.map((one) => ({ ...one, pool: "C" }));
  const restart = checkTargets(small).find(({ requirement }) =>
    requirement.includes("restart of inventory"),
  )!;
  t.equal(restart.met, undefined);
});

t.test("the document has a line for each result", async (t) => {
  const failed = toResult(
    { pool: "A", mode: "views, 10 readers", place: "churn" },
    { runs: [], failure: "cut off" },
  );
  const document = inventoryDocument(reportOf([...good, failed]));
  for (const { mode } of good) t.match(document, `| ${mode} |`);
  t.match(document, "| views, 10 readers | not measured: cut off |");
});

t.test("every row has a unique name", async (t) => {
  for (const scale of [fullScale, smokeScale]) {
    const names = [...fleetRows(scale), ...simulatedRows(scale)].map(rowName);
    t.equal(new Set(names).size, names.length);
  }
});

t.test("figures with a line's name become lines", async (t) => {
  const row: Row = {
    section: "queries",
    mode: "all",
    pool: "5 VMs",
    measure: () => Promise.resolve({}),
  };
  const runs = [
    { "a/ms": 1, "b/ms": 5 },
    { "a/ms": 3, "b/ms": 5 },
  ];
  t.match(toResults({ row, runs }), [
    { mode: "a", ms: 2, runs: 2 },
    { mode: "b", ms: 5, runs: 2 },
  ]);
  t.match(toResults({ row, runs: [{ ms: 1 }] }), [{ mode: "all", ms: 1 }]);
  t.match(toResults({ row, runs: [], failure: "no" }), [
    { mode: "all", runs: 0, failure: "no" },
  ]);
});

t.test("a smoke run reports missing figures", async (t) => {
  t.throws(() => checkShape(reportOf(good.slice(0, 1).map(withoutMs))), {
    message: /queries count: no ms/,
  });
  t.doesNotThrow(() => checkShape(reportOf(good.slice(0, 1))));
});

function withoutMs(one: Result): Result {
  return { ...one, ms: undefined };
}
