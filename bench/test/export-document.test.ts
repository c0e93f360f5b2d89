import t from "tap";
import { checkShape, exportDocument } from "../src/export/export-bench.js";
import { toResult, type Report } from "../src/harness/result.js";
import { sampleReport } from "./sample-report.js";

const figures = {
  megabytesPerSecond: 200,
  cpuMsPerGib: 1234.4,
  share: 1,
  grownBytes: 3 * 2 ** 20,
  longestOwnBlockMs: 4.25,
};

type Figures = typeof figures;

const reportOf = (rows: Readonly<Record<string, Partial<Figures>>>): Report => {
  const results = Object.entries(rows).map(([mode, more]) =>
    toResult(
      { pool: "C", mode, place: "" },
      { runs: [{ ...figures, ...more }] },
    ),
  );
  return sampleReport(results);
};

t.test(
  "each serverUnderTest is a line, the server beside the proxy",
  async (t) => {
    const document = exportDocument(
      reportOf({ proxy: {}, server: { megabytesPerSecond: 150 } }),
    );
    t.match(
      document,
      "| server | 150 (150..150) | 1234 (1234..1234) | 3 (3..3) | 4.3 (4.3..4.3) |",
    );
    t.match(document, "| 0.75x | **missed** |");
  },
);

t.test("a smoke run requires all bytes", async (t) => {
  checkShape(reportOf({ proxy: {} }));
  t.throws(() => {
    checkShape(reportOf({ server: { share: 0.5 } }));
  }, /incomplete/);
  const failed = toResult(
    { pool: "C", mode: "server", place: "" },
    { runs: [], failure: "it ended" },
  );
  t.throws(() => {
    checkShape({ ...reportOf({}), results: [failed] });
  }, /it ended/);
});
