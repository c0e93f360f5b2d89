import t from "tap";
import { comparisonTable } from "../src/harness/compare.js";
import { toResult, type Report } from "../src/harness/result.js";

const report = (commit: string, ms: number, modes: string[]): Report => ({
  results: modes.map((mode) =>
    toResult({ pool: "A", mode, place: "main" }, { runs: [{ ms }] }),
  ),
  machine: {
    cpu: "x",
    cores: 2,
    memoryBytes: 8e9,
    system: "linux x64",
    node: "20.20.2",
  },
  versions: {},
  commit,
  date: "2026-11-21",
});

t.test("rows that both runs have are compared", async (t) => {
  const table = comparisonTable(
    report("old", 200, ["auto", "gone"]),
    report("new", 100, ["auto", "more"]),
  );
  t.match(table, "| A | auto | main | 200 | 100 | 0.50x |");
  t.match(table, "ms at old");
  t.notMatch(table, "gone");
  t.notMatch(table, "more");
});
