import t from "tap";
import { toResult, type Result } from "../src/harness/result.js";
import { compareTable } from "../src/whole/compare-document.js";
import { checkShape } from "../src/whole/whole-bench.js";
import { targetsOf, wholeDocument } from "../src/whole/whole-document.js";
import { sampleReport } from "./sample-report.js";

const figures = {
  listeningMs: 480,
  listeningCpuMs: 560,
  firstRowsMs: 1_400,
  listMs: 1_600,
  listCpuMs: 3_900,
  againMs: 3.2,
  searchMs: 20,
  searchAgainMs: 30,
  filterMs: 40,
  filterAgainMs: 20,
  sortMs: 510,
  sortAgainMs: 110,
  disksMs: 300,
  byIdMs: 20,
  byNameMs: 90,
  allMs: 900,
  allAgainMs: 200,
  fileMs: 180,
  renameMs: 140,
  longestBlockMs: 60,
  churnCpuMsPerSecond: 29,
  healthP99Ms: 12,
  healthLongestMs: 40,
  settleCpuMsPerSecond: 75,
  restCpuMsPerSecond: 25,
  rssBytes: 420e6,
};

const row = (pool: string, mode: string, failure?: string): Result =>
  toResult(
    { pool, mode, place: "" },
    failure === undefined ? { runs: [figures] } : { runs: [], failure },
  );

t.test("each fleet has a column for its cold and its warm start", async (t) => {
  const report = sampleReport([row("A", "cold"), row("A", "warm")]);
  const document = wholeDocument(report);
  t.match(document, "|  | A, cold | A, warm |");
  t.match(document, "| all VMs in the list, ms | 1,600 | 1,600 |");
  t.match(document, "| CPU at rest, ms a second | 25.0 | 25.0 |");
  t.match(document, "| one VM by id, ms | 20.0 | 20.0 |");
  t.match(document, "| memory, MB | 420 | 420 |");
});

t.test("a target that is missed is shown as missed", async (t) => {
  const targets = targetsOf(
    sampleReport([
      row("A", "cold"),
      row("no pools", "warm"),
      row("100x1000", "warm"),
    ]),
  );
  const met = targets.map((target) => target.met);
  t.same(met.slice(0, 2), [true, true], "without pools");
  t.same(
    met.slice(2, 9),
    [false, false, undefined, false, true, undefined, true],
    "pool A",
  );
  t.same(met.slice(9, 11), [undefined, undefined], "a fleet, cold");
  t.same(
    met.slice(11),
    [true, true, true, true, true, false, false, true, true, true],
    "a fleet, warm",
  );
});

t.test("a smoke run fails where a figure is missing", async (t) => {
  checkShape(sampleReport([row("C", "cold")]));
  t.throws(() => {
    checkShape(sampleReport([row("C", "cold", "it ended")]));
  }, /it ended/);
  t.match(
    wholeDocument(sampleReport([row("C", "cold", "it ended")])),
    "it ended",
  );
});

t.test("two commits are compared figure by figure", async (t) => {
  const faster = { ...figures, listMs: 800 };
  const before = row("A", "cold");
  const after = toResult(
    { pool: "A", mode: "cold", place: "" },
    { runs: [faster] },
  );
  const table = compareTable({ names: ["main~1", "now"], before, after });
  t.match(table, "| A, cold | main~1 | now |");
  t.match(table, "| all VMs in the list, ms | 1,600 | 800 | 0.50x |");
  t.match(table, "| search, ms | 20.0 | 20.0 | 1.00x |");
});
