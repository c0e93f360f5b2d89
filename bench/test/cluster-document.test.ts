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
};

const row = (failure?: string): Result =>
  toResult(
    { pool: "30 pools", mode: "", place: "" },
    failure === undefined ? { runs: [figures] } : { runs: [], failure },
  );

t.test("the document has what was measured", async (t) => {
  const document = clusterDocument(sampleReport([row()]));
  t.match(document, "| planned hand-over, ms | 320 |");
  t.match(document, "| owned again, ms | 7,000 |");
  t.match(document, "| log written, bytes a second | 4096 |");
});

t.test("a target that is missed is shown as missed", async (t) => {
  const targets = targetsOf(sampleReport([row()]));
  t.equal(targets.length, 4);
  t.same(
    targets.map(({ met }) => met),
    [true, false, true, true],
  );
  t.match(clusterDocument(sampleReport([row()])), /killed.*\|.*(no|missed)/i);
});

t.test("a run that failed is an error of the smoke run", async (t) => {
  t.throws(() => checkShape(sampleReport([row("no server")])), /no server/);
  t.doesNotThrow(() => checkShape(sampleReport([row()])));
});
