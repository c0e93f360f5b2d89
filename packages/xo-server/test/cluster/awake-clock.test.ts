import t from "tap";
import { AwakeClock } from "../../src/cluster/awake-clock.js";
import { FakeClock } from "../fake-clock.js";

function setUp() {
  const monotonic = new FakeClock();
  const wall = { ms: 1_790_000_000_000, now: () => wall.ms };
  const clock = new AwakeClock(monotonic, wall);
  const start = clock.now();
  return {
    /** Time passes on both clocks. */
    pass: (ms: number) => {
      monotonic.pass(ms);
      wall.ms += ms;
    },
    /** On the wall clock only: the machine was suspended, or its clock was set. */
    step: (ms: number) => {
      wall.ms += ms;
    },
    passed: () => clock.now() - start,
  };
}

t.test("the time in which a machine was suspended has passed", async (t) => {
  const { pass, step, passed } = setUp();
  pass(1_000);
  step(10_000);
  t.equal(passed(), 11_000);
  pass(500);
  t.equal(passed(), 11_500);
  step(5_000);
  pass(100);
  t.equal(passed(), 16_600);
});

t.test("a clock that is set back changes nothing", async (t) => {
  const { pass, step, passed } = setUp();
  step(-3_600_000);
  pass(1_000);
  t.equal(passed(), 1_000);
  step(10_000);
  t.equal(passed(), 11_000, "also not what is noticed afterwards");
});

t.test("small corrections of the clock change nothing", async (t) => {
  const { pass, step, passed } = setUp();
  for (let i = 0; i < 10; i++) {
    step(200);
    pass(1_000);
    passed();
  }
  t.equal(passed(), 10_000);
});
