import t from "tap";
import { parseApiOptions } from "../src/api/api-options.js";

const parse = (...args: string[]) => parseApiOptions(args, "docs");

t.test("all rows are a full run, which replaces the document", async (t) => {
  t.match(parse(), { runs: 3, out: "docs", smoke: false });
});

t.test("a partial run does not write the document", async (t) => {
  t.match(parse("--only", "rights"), { out: undefined, only: ["rights"] });
  t.match(parse("--only", "rights", "--out", "here"), { out: "here" });
});

t.test("profiled figures are not published", async (t) => {
  t.match(parse("--cpu-prof", "p"), { out: undefined, profile: /^\/.*p$/ });
});

t.test("a smoke run is one run and is not published", async (t) => {
  t.match(parse("--smoke", "--runs", "4"), { runs: 1, out: undefined });
});

t.test("unknown properties are refused", async (t) => {
  t.throws(() => parse("A"), { name: "UsageError" });
  t.throws(() => parse("--runs", "0"), { name: "UsageError" });
});
