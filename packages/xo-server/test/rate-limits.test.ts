import t from "tap";
import { RateLimits, toRateKey } from "../src/limits/rate-limits.js";
import { TokenBucket } from "../src/limits/token-bucket.js";
import { FakeClock } from "./fake-clock.js";

t.test("each key has its own rate, and recovers it over time", async (t) => {
  const clock = new FakeClock();
  const rates = new RateLimits(2, clock);
  for (const key of ["a", "b"]) {
    rates.take(key, "one address");
    rates.take(key, "one address");
    t.throws(() => rates.take(key, "one address"), {
      code: "TOO_MANY_REQUESTS",
      message: "too many requests: more than 2 per second from one address",
      data: { retryAfterMs: 500 },
    });
  }
  clock.pass(500);
  rates.take("a", "one address");
  t.throws(() => rates.take("a", "one address"));
});

t.test("a clock that is set back refuses nothing", async (t) => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(10, () => clock.now());
  clock.shift(-30 * 86_400_000);
  t.ok(bucket.take(10));
  t.equal(bucket.waitMs(1), 100);
});

t.test("at most 10,000 keys are stored", async (t) => {
  const rates = new RateLimits(1, new FakeClock());
  rates.take("first", "x");
  for (let i = 0; i < 10_000; i++) rates.take(String(i), "x");
  rates.take("first", "x");
  t.throws(() => rates.take("9999", "x"), "the last one is");
});

t.test("expensive requests wait longer, and run in the end", async (t) => {
  const clock = new FakeClock();
  const bucket = new TokenBucket(10, () => clock.now());
  t.ok(bucket.take(8));
  t.notOk(bucket.take(4));
  t.equal(bucket.waitMs(4), 200);
  clock.pass(200);
  t.ok(bucket.take(4));
  clock.pass(1000);
  t.ok(bucket.take(100), "from a full bucket");
  t.equal(bucket.waitMs(), 9_100, "and is paid for afterwards");
});

t.test("an IPv6 network counts as one", async (t) => {
  t.equal(toRateKey("192.0.2.1"), "192.0.2.1");
  t.equal(toRateKey("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  t.equal(toRateKey("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  t.equal(toRateKey("2001:db8::9"), "2001:db8:0:0::/64");
  t.equal(toRateKey("::1"), "0:0:0:0::/64");
  t.equal(toRateKey(""), "");
});
