import t from "tap";
import { checkShape } from "../src/console/console-bench.js";
import { consoleDocument, targetsOf } from "../src/console/console-document.js";
import { toResult, type Report } from "../src/harness/result.js";
import { sampleReport } from "./sample-report.js";

const keys = {
  keys: 5000,
  keyP50Ms: 0.21,
  keyP99Ms: 1.04,
  keyMaxMs: 3.3,
  cpuMs: 812,
  longestOwnBlockMs: 1.2,
};
const pictures = { bytesPerSecond: 640e6, cpuMs: 1200, grownBytes: 2 ** 20 };

function reportOf(
  rows: readonly (readonly [string, string, Record<string, number>])[],
): Report {
  return sampleReport(
    rows.map(([mode, place, figures]) =>
      toResult({ pool: "", mode, place }, { runs: [figures] }),
    ),
  );
}

const whole = reportOf([
  ["1 console", "server", keys],
  ["1 console", "bare", { ...keys, keyP99Ms: 0.2 }],
  ["50 consoles", "server", { ...keys, keyP99Ms: 21 }],
  ["pictures", "server", pictures],
]);

t.test("each way has its line, keys and pictures a table each", async (t) => {
  const document = consoleDocument(whole);
  t.match(
    document,
    "| 1 console | server | 0.21 | 1.04 | 3.3 | 5000 | 812 | 1.2 |",
  );
  t.match(document, "| server | 640 | 1200 | - | 1.0 |");
});

t.test("targets are compared with the bytes through the server", async (t) => {
  t.same(
    targetsOf(whole).map(({ met }) => met),
    [true, false, true],
  );
  t.same(
    targetsOf(reportOf([])).map(({ met }) => met),
    [undefined, undefined, undefined],
  );
});

t.test("a smoke run requires every figure", async (t) => {
  checkShape(whole);
  t.throws(() => {
    checkShape(reportOf([["pictures", "bare", { cpuMs: 1 }]]));
  }, /no bytesPerSecond/);
});
