import t from "tap";
import { createHistogram } from "@xo-server/perf";

t.test("an empty histogram is all zeroes", async (t) => {
  const zeroes = { count: 0, sum: 0, p50: 0, p90: 0, p99: 0, max: 0 };
  t.same(createHistogram().snapshot(), zeroes);
  t.equal(createHistogram().mean, 0);
  t.equal(createHistogram().sumOver(50), 0);
});

t.test("a quantile is at most 9 % too high and never too low", async (t) => {
  const histogram = createHistogram();
  for (let value = 1; value <= 1000; value++) histogram.record(value);
  for (const [q, exact] of [
    [0.5, 500],
    [0.9, 900],
    [0.99, 990],
  ] as const) {
    const found = histogram.quantile(q);
    t.ok(found >= exact && found <= exact * 1.1, `${q}: ${found}`);
  }
  t.equal(histogram.max, 1000);
  t.equal(histogram.quantile(1), 1000);
  t.equal(histogram.mean, 500.5);
});

t.test("the sum over a threshold counts whole values", async (t) => {
  const histogram = createHistogram();
  for (const value of [10, 49, 80, 120]) histogram.record(value);
  t.equal(histogram.sumOver(50), 200);
  t.equal(histogram.countOver(50), 2);
  t.equal(histogram.sumOver(-1), 259);
  t.equal(histogram.countOver(-1), 4);
  t.equal(histogram.countOver(1000), 0);
});

t.test("odd numbers do no harm", async (t) => {
  const histogram = createHistogram();
  histogram.record(NaN);
  t.equal(histogram.count, 0);
  histogram.record(-5);
  histogram.record(0);
  t.equal(histogram.max, 0);
  t.equal(histogram.p99, 0);
  histogram.record(1e12);
  t.equal(histogram.max, 1e12);
  t.equal(histogram.p99, 1e12);
});

t.test("buckets name their upper bound and hold every value", async (t) => {
  const histogram = createHistogram();
  for (const value of [1, 1, 100]) histogram.record(value);
  const buckets = histogram.buckets();
  t.same(
    buckets.map(({ count }) => count),
    [2, 1],
  );
  t.ok(buckets[0]!.upTo >= 1 && buckets[1]!.upTo >= 100);
  histogram.reset();
  t.same(histogram.buckets(), []);
});
