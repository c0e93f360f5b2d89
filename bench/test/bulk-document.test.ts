import t from "tap";
import { checkShape } from "../src/bulk/bulk-bench.js";
import { bulkDocument } from "../src/bulk/bulk-document.js";
import { toResult, type Report } from "../src/harness/result.js";

const reportOf = (
  rows: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Report => ({
  results: Object.entries(rows).map(([mode, figures]) =>
    toResult({ pool: "A", mode, place: "" }, { runs: [figures] }),
  ),
  machine: {
    cpu: "x",
    cores: 2,
    memoryBytes: 8e9,
    system: "linux x64",
    node: "20.20.2",
  },
  versions: {},
  commit: "abc",
  date: "2026-01-01",
});

const bare = { cpuMsPerVm: 2, ms: 10_000, succeeded: 500 };
const server = {
  ...bare,
  cpuMsPerVm: 8,
  longestOwnBlockMs: 12,
  pingP99Ms: 4,
};

t.test("an API of our own is absent from the bare client", async (t) => {
  const document = bulkDocument(reportOf({ bare, server }));
  t.match(
    document,
    /beyond the bare client's: at most 5 ms \| +6.* \*\*missed/,
  );
  t.match(document, /longest block: at most 20 ms \| +12.* met/);
  t.match(document, "| bare | 2.0 (2.0..2.0) | 10.0 (10.0..10.0) | - | - |");
});

t.test("a smoke run requires started VMs", async (t) => {
  checkShape(reportOf({ bare }));
  t.throws(() => {
    checkShape(reportOf({ bare: { ...bare, succeeded: 0 } }));
  }, /none/);
});
