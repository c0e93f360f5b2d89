import t from "tap";
import { checkShape } from "../src/bulk/bulk-bench.js";
import { bulkDocument } from "../src/bulk/bulk-document.js";
import { sampleReportOf } from "./sample-report.js";

const reportOf = (rows: Parameters<typeof sampleReportOf>[0]) =>
  sampleReportOf(rows, "A");

const bare = { cpuMsPerVm: 2, ms: 10_000, succeeded: 500 };
const server = {
  ...bare,
  cpuMsPerVm: 8,
  longestOwnBlockMs: 12,
  healthP99Ms: 4,
};

t.test(
  "figures of the server's API are absent for the plain client",
  async (t) => {
    const document = bulkDocument(reportOf({ bare, server }));
    t.match(
      document,
      /more than the plain client: at most 5 ms \| +6.* \*\*missed/,
    );
    t.match(document, /longest block: at most 20 ms \| +12.* met/);
    t.match(document, "| bare | 2.0 (2.0..2.0) | 10.0 (10.0..10.0) | - | - |");
  },
);

t.test("a smoke run requires started VMs", async (t) => {
  checkShape(reportOf({ bare }));
  t.throws(() => {
    checkShape(reportOf({ bare: { ...bare, succeeded: 0 } }));
  }, /none/);
});
