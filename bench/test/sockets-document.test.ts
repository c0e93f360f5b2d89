import t from "tap";
import { toResult } from "../src/harness/result.js";
import { checkShape, socketsDocument } from "../src/sockets/sockets-bench.js";
import { sampleReport } from "./sample-report.js";

const figures = {
  rssBytes: 300 * 2 ** 20,
  bytesPerSocket: 12_800,
  opensPerSecond: 170.4,
  idleCpuMsPerSecond: 35.24,
  idleLongestOwnBlockMs: 6.7,
  pushP50Ms: 562,
  pushP99Ms: 1856,
  pushCpuUsPerSocket: 22.4,
  pushLongestOwnBlockMs: 9.8,
  receivedShare: 1,
};

const row = (runs: readonly (typeof figures)[], failure?: string) =>
  toResult(
    { pool: "", mode: "10000", place: "" },
    { runs, ...(failure === undefined ? {} : { failure }) },
  );

t.test("each count of sockets is a line", async (t) => {
  const document = socketsDocument(sampleReport([row([figures])]));
  t.match(
    document,
    "| 10000 | 300 | 12.5 | 170 | 35.2 | 6.7 | 562 | 1856 | 22.4 | 9.8 | 1.000 |",
  );
});

t.test("a smoke run fails unless all changes are received", async (t) => {
  checkShape(sampleReport([row([figures])]));
  const some = { ...figures, receivedShare: 0.9 };
  t.throws(() => {
    checkShape(sampleReport([row([some])]));
  }, /not all changes were received/);
  t.throws(() => {
    checkShape(sampleReport([row([], "it ended")]));
  }, /it ended/);
});
