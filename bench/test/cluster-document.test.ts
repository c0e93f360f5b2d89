import t from "tap";
import { checkShape } from "../src/cluster/cluster-bench.js";
import { clusterDocument, targetsOf } from "../src/cluster/cluster-document.js";
import { toResult, type Result } from "../src/harness/result.js";
import { sampleReport } from "./sample-report.js";

const figures = {
  handedOver: 34,
  handOverMs: 320,
  takenOver: 17,
  takeOverMs: 7_000,
  liveMs: 90,
  ownChangeMs: 20,
  poolChangeMs: 40,
  otherPoolChangeMs: 60,
  changeMs: 25,
  rowUpdatesPerSecond: 12.5,
  walBytesPerSecond: 4_096,
  postgresPercent: 1.5,
};

const others = {
  kills: { kills: 50, takeOverP99Ms: 7_000, liveP99Ms: 90 },
  churn: { ownP99Ms: 300, otherP99Ms: 320 },
  renewals: { postgresPercent: 4, rowUpdatesPerSecond: 300 },
  leases: { leases: 3_000, postgresPercent: 4, renewalCpuMs: 3 },
  fleet: { oneBytes: 2 ** 30, mostBytes: 2 ** 30 },
};

/** What a short run measures whose database uses less than a tick of the kernel's CPU clock. */
const idle = { leases: 2, postgresPercent: 0, renewalCpuMs: 0 };

const resultOf = (mode: string, run: object, failure?: string): Result =>
  toResult(
    { pool: "30 pools", mode, place: "" },
    failure === undefined
      ? { runs: [run as Record<string, number>] }
      : { runs: [], failure },
  );
const rows = (failure?: string) => [
  resultOf("servers", figures, failure),
  ...Object.entries(others).map(([mode, run]) => resultOf(mode, run)),
];

t.test("the document has what was measured", async (t) => {
  const document = clusterDocument(sampleReport(rows()));
  t.match(document, "| planned hand-over, ms | 320 |");
  t.match(document, "| owned again, p99, ms | 7,000 |");
  t.match(document, "| log written, bytes a second | 4096 |");
  t.match(document, "| CPU of PostgreSQL, % of a core | 1.50 |");
});

t.test("a target that is missed is shown as missed", async (t) => {
  const targets = targetsOf(sampleReport(rows()));
  t.same(
    targets.map(({ met }) => met),
    [true, false, true, true, false, true, false],
  );
  t.match(clusterDocument(sampleReport(rows())), /killed.*\|.*(no|missed)/i);
});

t.test("a row that was not measured is shown as that", async (t) => {
  const [first] = rows();
  const met = targetsOf(sampleReport([first!])).map((target) => target.met);
  t.same(met, [true, ...Array.from({ length: 6 }, () => undefined)]);
});

t.test("a run that failed is an error of the smoke run", async (t) => {
  t.throws(() => checkShape(sampleReport(rows("no server"))), /no server/);
  t.doesNotThrow(() => checkShape(sampleReport(rows())));
  t.doesNotThrow(() => checkShape(sampleReport([resultOf("leases", idle)])));
  t.throws(
    () => checkShape(sampleReport([resultOf("leases", { leases: 2 })])),
    /no postgresPercent/,
  );
});
