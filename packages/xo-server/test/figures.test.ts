import t from "tap";
import { CounterRate } from "../src/status/counter-rate.js";
import {
  RecentDelays,
  type ProbeDelayBucket,
} from "../src/status/recent-delays.js";

t.test("a rate is the mean of the last seconds", async (t) => {
  let total = 100;
  const rate = new CounterRate(() => total, 2);
  t.equal(rate.perSecond(), 0, "nothing is known before the first second");
  total += 10;
  rate.tick();
  t.equal(rate.perSecond(), 10);
  total += 20;
  rate.tick();
  t.equal(rate.perSecond(), 15);
  rate.tick();
  rate.tick();
  t.equal(rate.perSecond(), 0);
});

t.test("delays are those of the last seconds", async (t) => {
  let buckets: ProbeDelayBucket[] = [];
  const delays = new RecentDelays(() => buckets, 2);
  t.same(delays.figures(), { p50Ms: 0, p99Ms: 0, maxMs: 0 });
  buckets = [
    { upTo: 1, count: 98 },
    { upTo: 500, count: 2 },
  ];
  t.same(delays.figures(), { p50Ms: 1, p99Ms: 500, maxMs: 500 });
  delays.tick();
  buckets = [
    { upTo: 1, count: 198 },
    { upTo: 500, count: 2 },
  ];
  delays.tick();
  delays.tick();
  buckets = [
    { upTo: 1, count: 199 },
    { upTo: 500, count: 2 },
  ];
  t.same(delays.figures(), { p50Ms: 1, p99Ms: 1, maxMs: 1 });
});
