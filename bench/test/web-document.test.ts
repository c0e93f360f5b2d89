import t from "tap";
import { checkShape } from "../src/web/web-bench.js";
import { webDocument } from "../src/web/web-document.js";
import { sampleReportOf } from "./sample-report.js";

const large = {
  signInMs: 700,
  restartMs: 1_200,
  scriptBytes: 150_000,
  framesPerSecond: 60,
  keyMs: 120,
  mostHeapBytes: 40e6,
  heapBytes: 39e6,
};
const small = { ...large, changeMs: 400 };

t.test("each target is evaluated for each size", async (t) => {
  const document = webDocument(
    sampleReportOf({
      "5,000": small,
      "100,000": { ...large, signInMs: 1_200 },
    }),
  );
  t.match(document, /5,000 VMs: sign-in to list.* \| +700.* met/);
  t.match(document, /100,000 VMs: sign-in to list.* \*\*missed/);
  t.match(document, /5,000 VMs: visit to list.* 1000 ms \| +1,200.*\*\*missed/);
  t.match(document, /100,000 VMs: visit to list.* 1500 ms \| +1,200.* met/);
  t.match(document, /key in the filter.*at most 100 ms \| +120.*\*\*missed/);
  t.match(document, /JavaScript.*at most 200 kB \| +150 kB \| met/);
  t.match(document, /100,000 VMs: change to row.* - \| not measured/);
});

t.test("a smoke run requires every figure", async (t) => {
  checkShape(sampleReportOf({ "60": small }));
  t.throws(() => {
    checkShape(sampleReportOf({ "60": large }));
  }, /changeMs/);
});
