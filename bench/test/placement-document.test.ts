import t from "tap";
import { toResult, type Report } from "../src/harness/result.js";
import { toCib } from "../src/placement/cib.js";
import { fittedExponent } from "../src/placement/curve-fit.js";
import { placementDocument } from "../src/placement/placement-document.js";
import { parsePlacementOptions } from "../src/placement/placement-options.js";
import { scenarioPool } from "../src/placement/problems.js";
import { checkShape } from "../src/placement/smoke.js";
import { sampleReport } from "./sample-report.js";

type Figures = Readonly<Record<string, number>>;

const reportOf = (
  rows: readonly (readonly [string, string, readonly Figures[], string?])[],
): Report =>
  sampleReport(
    rows.map(([place, mode, runs, failure]) =>
      toResult(
        { pool: "", mode, place },
        { runs, ...(failure === undefined ? {} : { failure }) },
      ),
    ),
  );

const scenario = {
  ms: 400,
  cpuMs: 450,
  repairMs: 60,
  failoverMs: 20,
  allMs: 2_000,
  survived: 0,
  placed: 10_000,
};
const pacemaker = { ms: 20_000, cpuMs: 18_000, outMs: 10_000, outCpuMs: 9_000 };

t.test("targets are met or missed by the medians", async (t) => {
  const document = placementDocument(
    reportOf([["scenario", "scenario, required", [scenario]]]),
  );
  t.match(document, "required: full plan: at most 500 ms | 400 ms | met |");
  t.match(document, "plan repaired: at most 50 ms | 60.0 ms | **missed** |");
  t.match(document, "100,000 VMs: at most 10000 ms | - | not measured |");
});

t.test(
  "Pacemaker's time is reported as a multiple of the planner's",
  async (t) => {
    const document = placementDocument(
      reportOf([
        ["scenario", "scenario, required", [scenario]],
        ["pacemaker", "crm_simulate", [pacemaker]],
      ]),
    );
    t.match(document, "takes 50.00x as long for the full plan (CPU: 40.00x)");
    t.match(document, "500x as long with a node out");
  },
);

t.test("an absent row has a reason", async (t) => {
  const skipped = reportOf([["pacemaker", "crm_simulate", []]]);
  t.match(placementDocument(skipped), "skipped: crm_simulate is not installed");
  checkShape(skipped);
  const failed = reportOf([["pacemaker", "crm_simulate", [], "out of memory"]]);
  t.match(placementDocument(failed), "crm_simulate failed: out of memory");
  t.throws(() => checkShape(failed), /out of memory/);
});

t.test("growth is compared with n log n", async (t) => {
  const curve = (power: number) =>
    reportOf(
      [1_000, 10_000, 100_000].map((vms) => {
        const warmMs = vms ** power / 100;
        return ["curve", `curve of ${vms}`, [{ ms: warmMs, warmMs, vms }]];
      }),
    );
  t.match(placementDocument(curve(1.05)), "n^1.05 | met |");
  t.match(placementDocument(curve(1.3)), "n^1.30 | **missed** |");
  const square = [1, 2, 3].map((n) => ({ n, ms: n * n }));
  t.equal(fittedExponent(square).toFixed(6), "2.000000");
});

t.test("failovers that are proven unsolvable are reported", async (t) => {
  const quality = {
    pools: 100,
    failovers: 9,
    solvable: 5,
    missed: 1,
    wrong: 0,
    fewer: 2,
    calledWrongly: 0,
    sharePercent: 98,
  };
  const document = placementDocument(
    reportOf([["quality", "quality", [quality]]]),
  );
  t.match(document, "called otherwise: none | 1 | **missed** |");
  t.match(document, "at least 99 % | 98 % | **missed** |");
});

t.test(
  "the CIB has the scenario: clones, locations, and running VMs",
  async (t) => {
    const size = { hosts: 3, sets: 4, required: true };
    const count = (text: string, of: RegExp) => text.match(of)?.length ?? 0;
    const full = toCib(size, {});
    t.equal(count(full, /<clone /g), 4);
    t.equal(count(full, /<rsc_location /g), 4);
    t.equal(count(full, /crmd="online"/g), 3);
    t.equal(count(full, /<lrm_resource /g), 0);
    const out = toCib(size, { out: 1 });
    t.match(out, 'uname="h1" in_ccm="false" crmd="offline"');
    t.equal(count(out, /<lrm_resource /g), 12);
    const {
      hosts,
      vms,
      groups,
      hostAffinities: locations,
    } = scenarioPool(size);
    t.same([hosts.length, vms.length], [3, 12]);
    t.same([groups?.length, locations?.length], [4, 4]);
  },
);

t.test("a partial run and a small run do not write the document", async (t) => {
  const parse = (...args: string[]) => parsePlacementOptions(args, "docs");
  t.match(parse(), { runs: 5, out: "docs", smoke: false });
  t.match(parse("--only", "scenario"), { out: undefined, only: ["scenario"] });
  t.match(parse("--smoke", "--runs", "4"), { runs: 1, out: undefined });
  t.match(parse("--replay", "pool.json"), { replay: "pool.json" });
  t.throws(() => parse("A"), { name: "UsageError" });
});
