import t from "tap";
import { eventsDocument, isInTime } from "../src/events/events-document.js";
import { toResult, type Report } from "../src/harness/result.js";
import { sampleReport } from "./sample-report.js";

const run = {
  throttleMs: 250,
  p50Ms: 180,
  p99Ms: 349,
  maxMs: 400,
  changesPerSecond: 1900,
  answersPerSecond: 3.3,
  bytesPerSecond: 9e6,
  clientCpuPercent: 12,
  simulatorCpuPercent: 40,
  longestBlockMs: 4,
};
const key = { pool: "A", mode: "throttle 250", place: "auto" };

t.test("p99 must stay under the pause and 100 ms", async (t) => {
  t.equal(isInTime(toResult(key, { runs: [run] })), true);
  t.equal(isInTime(toResult(key, { runs: [{ ...run, p99Ms: 350 }] })), false);
  t.equal(isInTime(toResult(key, { runs: [], failure: "no" })), undefined);
});

t.test("the document has a line for each pause", async (t) => {
  const report: Report = sampleReport([
    toResult(key, { runs: [run] }),
    toResult({ ...key, mode: "throttle 0" }, { runs: [], failure: "cut off" }),
  ]);
  const text = eventsDocument(report, 2000);
  t.match(text, "makes 2,000 changes a second");
  t.match(
    text,
    "| 250 | 180 | 349 | 400 | < 350 | met | 1,900 | 3.3 | 9.0 | 12 | 40 | 4.00 | 1 |",
  );
  t.match(text, "not measured: cut off");
});
