import t from "tap";
import { DigestCheck, REPEAT_MS } from "../src/event-relay/digest-check.js";
import { FakeClock } from "./fake-clock.js";

const digest = (digit: string) => digit.repeat(16);

function setUp(found: number | Error = 0) {
  const clock = new FakeClock();
  const lines: string[] = [];
  const verified: unknown[] = [];
  const keep = (message: string) => void lines.push(message);
  const check = new DigestCheck({
    mirror: {
      digestsOf: () => ({ VM: digest("1"), VDI: digest("2"), SR: digest("3") }),
      verify: async (...parts) => {
        verified.push(parts);
        if (typeof found === "number") return found;
        throw found;
      },
    },
    clock,
    logger: { debug: keep, info: keep, warn: keep, error: keep },
  });
  return { clock, lines, verified, check };
}

const settle = () => new Promise(setImmediate);

t.test(
  "classes whose digests differ are compared with the pool, and the result is logged",
  async (t) => {
    for (const [found, expected] of [
      [0, /p: VDI, SR are as in the pool/],
      [3, /p: VDI, SR: 3 objects differed from the pool, and were repaired/],
      [new Error("gone"), /p: VDI, SR could not be compared with the pool/],
    ] as const) {
      const { check, verified, lines } = setUp(found);
      const theirs = { VM: digest("1"), VDI: digest("f"), SR: digest("f") };
      check.compare("p", "xo2", theirs);
      await settle();
      t.same(verified, [["p", ["VDI", "SR"]]]);
      t.match(lines, [
        /^p: after the same events, the digests of server xo2 differ \(VDI, SR\)/,
        expected,
      ]);
      t.same(check.figures, { compared: 1, different: 1 });
    }
  },
);

t.test("equal digests, and classes of one server only", async (t) => {
  const { check, verified, lines } = setUp();
  check.compare("p", "xo2", { VM: digest("1"), blob: digest("f") });
  await settle();
  t.same(verified, []);
  t.same(lines, []);
  t.same(check.figures, { compared: 1, different: 0 });
});

t.test("a pool is compared with XAPI at most every ten minutes", async (t) => {
  const { check, verified, clock } = setUp();
  const theirs = { VM: digest("f") };
  check.compare("p", "xo2", theirs);
  clock.pass(REPEAT_MS - 1);
  check.compare("p", "xo2", theirs);
  check.compare("q", "xo2", theirs);
  t.same(verified, [
    ["p", ["VM"]],
    ["q", ["VM"]],
  ]);
  clock.pass(1);
  check.compare("p", "xo2", theirs);
  t.equal(verified.length, 3);
  t.equal(check.figures.different, 4);
});
