import t from "tap";
import { LoginThrottle } from "../src/auth/login-throttle.js";
import { FakeClock } from "./fake-clock.js";

function setUp() {
  const clock = new FakeClock();
  return { clock, throttle: new LoginThrottle(clock) };
}

t.test("each failure doubles the pause, up to a minute", async (t) => {
  const { clock, throttle } = setUp();
  const pauses = [];
  for (let i = 0; i < 8; i++) {
    throttle.recordFailure("Ada", `192.0.2.${i}`);
    pauses.push(throttle.waitMs("ada", "198.51.100.1"));
    clock.pass(pauses.at(-1)!);
  }
  t.same(pauses, [2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
  t.equal(throttle.waitMs("bob", "192.0.2.1"), 0, "others go on");
  throttle.recordFailure("ada", "192.0.2.1");
  throttle.recordSuccess("ada");
  t.equal(throttle.waitMs("ada", "198.51.100.1"), 0);
});

t.test("an address may fail ten times, by whatever names", async (t) => {
  const { clock, throttle } = setUp();
  const address = "192.0.2.1";
  for (let i = 0; i < 10; i++) throttle.recordFailure(`user${i}`, address);
  t.equal(throttle.waitMs("somebody", address), 0);
  throttle.recordFailure("one more", address);
  t.equal(throttle.waitMs("somebody", address), 2000);
  throttle.recordSuccess("somebody");
  t.equal(throttle.waitMs("somebody", address), 2000, "it stays known");
  clock.pass(15 * 60_000);
  t.equal(throttle.waitMs("somebody", address), 0, "forgotten");
});

t.test("no more names are remembered than fit", async (t) => {
  const { throttle } = setUp();
  throttle.recordFailure("first", "192.0.2.1");
  for (let i = 0; i < 10_000; i++) throttle.recordFailure(`u${i}`, "192.0.2.2");
  t.equal(throttle.waitMs("first", "192.0.2.3"), 0);
  t.ok(throttle.waitMs("u9999", "192.0.2.3") > 0);
});
