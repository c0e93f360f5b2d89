import t from "tap";
import { toResult, type Report, type Result } from "../src/harness/result.js";
import { checkShape, socketsDocument } from "../src/sockets/sockets-bench.js";

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

const reportOf = (results: readonly Result[]): Report => ({
  results,
  machine: {
    cpu: "x",
    cores: 2,
    memoryBytes: 8e9,
    system: "linux x64",
    node: "20.20.2",
  },
  versions: { ws: "8" },
  commit: "abc",
  date: "2026-01-01",
});

const row = (runs: readonly (typeof figures)[], failure?: string) =>
  toResult(
    { pool: "", mode: "10000", place: "" },
    { runs, ...(failure === undefined ? {} : { failure }) },
  );

t.test("each count of sockets is a line", async (t) => {
  const document = socketsDocument(reportOf([row([figures])]));
  t.match(
    document,
    "| 10000 | 300 | 12.5 | 170 | 35.2 | 6.7 | 562 | 1856 | 22.4 | 9.8 | 1.000 |",
  );
});

t.test("a smoke run fails unless all changes are received", async (t) => {
  checkShape(reportOf([row([figures])]));
  const some = { ...figures, receivedShare: 0.9 };
  t.throws(() => {
    checkShape(reportOf([row([some])]));
  }, /not all changes were received/);
  t.throws(() => {
    checkShape(reportOf([row([], "it ended")]));
  }, /it ended/);
});
