import t from "tap";
import { LoginThrottle } from "../src/auth/sign-in/login-throttle.js";
import { FakeClock } from "./fake-clock.js";

function setUp() {
  const clock = new FakeClock();
  return { clock, throttle: new LoginThrottle(clock) };
}

const by = (name: string, address: string, isKnown = false) => ({
  name,
  address,
  isKnown,
});

t.test("each failure doubles the pause, up to a minute", async (t) => {
  const { clock, throttle } = setUp();
  const pauses = [];
  for (let i = 0; i < 8; i++) {
    throttle.recordFailure(by("Ada", `192.0.2.${i}`));
    pauses.push(throttle.waitMs(by("ada", "198.51.100.1")));
    clock.pass(pauses.at(-1)!);
  }
  t.same(pauses, [2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000]);
  t.equal(throttle.waitMs(by("bob", "192.0.2.1")), 0, "others go on");
  throttle.recordFailure(by("ada", "192.0.2.1"));
  throttle.recordSuccess(by("ada", "192.0.2.1"));
  t.equal(throttle.waitMs(by("ada", "198.51.100.1")), 0);
});

t.test("an address may fail ten times, by whatever names", async (t) => {
  const { clock, throttle } = setUp();
  const address = "192.0.2.1";
  for (let i = 0; i < 10; i++) throttle.recordFailure(by(`user${i}`, address));
  t.equal(throttle.waitMs(by("ada", address)), 0);
  throttle.recordFailure(by("one more", address));
  t.equal(throttle.waitMs(by("ada", address)), 2000);
  throttle.recordSuccess(by("ada", "192.0.2.1"));
  t.equal(throttle.waitMs(by("ada", address)), 2000, "it stays known");
  clock.pass(15 * 60_000);
  t.equal(throttle.waitMs(by("ada", address)), 0, "failures are removed");
});

t.test("a clock that is set back does not extend a pause", async (t) => {
  const { clock, throttle } = setUp();
  throttle.recordFailure(by("ada", "192.0.2.1"));
  clock.shift(-30 * 86_400_000);
  t.equal(throttle.waitMs(by("ada", "198.51.100.1")), 2000);
  clock.pass(2000);
  t.equal(throttle.waitMs(by("ada", "198.51.100.1")), 0);
});

t.test("no more names are cached than fit", async (t) => {
  const { throttle } = setUp();
  throttle.recordFailure(by("first", "192.0.2.1"));
  for (let i = 0; i < 10_000; i++)
    throttle.recordFailure(by(`u${i}`, "192.0.2.2"));
  t.equal(throttle.waitMs(by("first", "192.0.2.3")), 0);
  t.ok(throttle.waitMs(by("u9999", "192.0.2.3")) > 0);
});

t.test("addresses of one IPv6 network share their failures", async (t) => {
  const { throttle } = setUp();
  for (let i = 0; i < 11; i++)
    throttle.recordFailure(by(`user${i}`, `2001:db8:0:1::${i}`));
  t.equal(throttle.waitMs(by("ada", "2001:db8:0:1::ffff")), 2000);
  t.equal(throttle.waitMs(by("ada", "2001:db8:0:2::1")), 0);
});

t.test(
  "other clients do not delay a name at addresses where it signed in before",
  async (t) => {
    const { throttle } = setUp();
    const home = by("ada", "192.0.2.1", true);
    for (let i = 0; i < 20; i++)
      throttle.recordFailure(by("ada", `198.51.100.${i}`));
    t.ok(throttle.waitMs(by("ada", "192.0.2.2")) > 0);
    t.equal(throttle.waitMs(home), 0);
    throttle.recordFailure(home);
    t.equal(throttle.waitMs(home), 2000, "its own failures do");
  },
);
