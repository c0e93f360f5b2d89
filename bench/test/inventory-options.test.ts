import t from "tap";
import { parseInventoryOptions } from "../src/inventory/inventory-options.js";

const parse = (...args: string[]) => parseInventoryOptions(args, "docs");

t.test("all rows are a full run, which replaces the document", async (t) => {
  t.match(parse(), { runs: 3, out: "docs", smoke: false });
  t.match(parse("--runs", "1"), { runs: 1, out: "docs" });
});

t.test("a partial run does not write the document", async (t) => {
  t.match(parse("--only", "live"), { out: undefined, only: ["live"] });
  t.match(parse("--only", "live", "--out", "here"), { out: "here" });
});

t.test("a smoke run is one run and is not published", async (t) => {
  t.match(parse("--smoke", "--runs", "4"), { runs: 1, out: undefined });
});

t.test("unknown properties are refused", async (t) => {
  t.throws(() => parse("A"), { name: "UsageError" });
  t.throws(() => parse("--runs", "0"), { name: "UsageError" });
  t.throws(() => parse("--runs", "1.5"), { name: "UsageError" });
  t.throws(() => parse("--fast"), { name: "UsageError" });
});
