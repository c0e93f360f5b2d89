import t from "tap";
import { median, percentile, summarise } from "../src/harness/figures.js";

t.test("the median is the middle of the sorted values", async (t) => {
  t.equal(median([10, 2, 9]), 9);
  t.equal(median([4, 1, 3, 2]), 2.5);
  t.ok(Number.isNaN(median([])));
});

t.test("a percentile is the nearest rank", async (t) => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  t.equal(percentile(values, 0.5), 50);
  t.equal(percentile(values, 0.99), 99);
  t.equal(percentile([7], 0.99), 7);
  t.ok(Number.isNaN(percentile([], 0.5)));
});

t.test("a summary handles each figure separately", async (t) => {
  t.same(
    summarise([
      { ms: 3, cpuMs: 1 },
      { ms: 1, cpuMs: 9 },
      { ms: 2, cpuMs: 5 },
    ]),
    {
      runs: 3,
      median: { ms: 2, cpuMs: 5 },
      min: { ms: 1, cpuMs: 1 },
      max: { ms: 3, cpuMs: 9 },
    },
  );
});
