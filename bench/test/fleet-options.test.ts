import t from "tap";
import { parseFleetOptions } from "../src/fleet/fleet-options.js";

const parse = (...args: string[]) => parseFleetOptions(args, "docs");

t.test(
  "the whole fleet with all rows is a full run, which replaces the document",
  async (t) => {
    t.match(parse(), {
      pools: 100,
      vms: 1000,
      churn: 5000,
      churnMs: 60_000,
      hours: 24,
      single: "A",
      runs: 1,
      out: "docs",
    });
    t.match(parse("--pools", "100", "--runs", "3"), { runs: 3, out: "docs" });
  },
);

t.test(
  "another size or a partial run does not write the document",
  async (t) => {
    for (const args of [
      ["--pools", "10"],
      ["--vms", "50"],
      ["--hours", "1"],
      ["--only", "day"],
      ["--smoke"],
    ])
      t.equal(parse(...args).out, undefined, args.join(" "));
    t.equal(parse("--pools", "10", "--out", "here").out, "here");
  },
);

t.test("rows are selected by name, in their own order", async (t) => {
  t.strictSame(parse("--only", "day", "--only", "mirror").rows, [
    "mirror",
    "day",
  ]);
  t.throws(() => parse("--only", "night"), { message: /no row night/ });
});

t.test("a smoke run is small, whatever else is its size", async (t) => {
  t.match(parse("--smoke"), { pools: 3, vms: 20, single: "C", smoke: true });
  t.match(parse("--smoke", "--pools", "5"), { pools: 5, vms: 20 });
});

t.test("a value that is not a number is refused", async (t) => {
  for (const wrong of ["0", "-1", "1.5", "many"])
    t.throws(() => parse(`--pools=${wrong}`), { name: "UsageError" }, wrong);
  t.throws(() => parse("--colour"), { name: "UsageError" });
});
