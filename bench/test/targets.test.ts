import t from "tap";
import { toResult, type Result } from "../src/harness/result.js";
import { statusOf } from "../src/harness/target.js";
import { checkTargets } from "../src/pools/targets.js";

const result = (
  mode: string,
  place: string,
  figures: Record<string, number>,
  pool = "A",
): Result => toResult({ pool, mode, place }, { runs: [figures] });

const good = [
  result("download", "main", { ms: 200, bytes: 100e6 }),
  result("auto", "auto", {
    ms: 300,
    longestOwnBlockMs: 10,
    peakRssBytes: 250e6,
    baselineRssBytes: 50e6,
    retainedBytes: 150e6,
  }),
  result("peer:xen-api:json-rpc", "main", { ms: 1500 }),
  result("xml-rpc:xmlrpc", "worker", { ms: 1 }),
  result("xml-rpc:xmlrpc", "main", { ms: 15_000 }),
  result("auto", "auto", { longestOwnBlockMs: 20 }, "many"),
];

t.test("a target that is just reached is met", async (t) => {
  const targets = checkTargets(good);
  t.same(
    targets.map(statusOf),
    Array.from({ length: 7 }, () => "met"),
  );
  t.same(
    targets.map(({ measured }) => measured),
    ["1.50x", "5.00x", "50.00x", "10.0 ms", "20.0 ms", "2.00x", "1.50x"],
  );
});

t.test("a target that is just passed by is missed", async (t) => {
  const slower = good.map((one) =>
    one.mode === "auto" && one.pool === "A" ? { ...one, ms: 301 } : one,
  );
  t.same(checkTargets(slower).slice(0, 3).map(statusOf), [
    "**missed**",
    "**missed**",
    "**missed**",
  ]);
});

t.test("an unmeasured target is not shown as met", async (t) => {
  t.ok(checkTargets([]).every(({ met }) => met === undefined));
});
