import t from "tap";
import { parsePoolsOptions } from "../src/pools/pools-options.js";

const parse = (...args: string[]) => parsePoolsOptions(args, "docs");

t.test(
  "all pools with all rows are a full run, which replaces the document",
  async (t) => {
    t.match(parse("A", "B", "C"), {
      pools: ["A", "B", "C"],
      runs: 5,
      out: "docs",
      many: true,
    });
    t.match(parse(), { pools: ["A", "B", "C"], out: "docs" });
  },
);

t.test(
  "a partial run (rows or pools) does not write the document",
  async (t) => {
    t.match(parse("A"), { pools: ["A"], out: undefined, many: false });
    t.match(parse("--only", "auto"), {
      out: undefined,
      many: false,
      only: ["auto"],
    });
    t.match(parse("A", "--out", "here"), { out: "here" });
  },
);

t.test("a smoke run is one run of the smallest pool", async (t) => {
  t.match(parse("--smoke"), {
    pools: ["C"],
    runs: 1,
    out: undefined,
    many: false,
  });
});

t.test("URLs of real pools replace simulated pools", async (t) => {
  t.match(parse("--url", "http://192.0.2.1", "--url", "http://192.0.2.2"), {
    pools: [],
    urls: ["http://192.0.2.1", "http://192.0.2.2"],
    out: undefined,
  });
});

t.test("unknown properties are refused", async (t) => {
  t.throws(() => parse("D"), { name: "UsageError" });
  t.throws(() => parse("--runs", "0"), { name: "UsageError" });
  t.throws(() => parse("--fast"), { name: "UsageError" });
});
