import t from "tap";
import { measureInRounds } from "../src/harness/rounds.js";

t.test("rows take turns, every second round backwards", async (t) => {
  const order: string[] = [];
  await measureInRounds(["a", "b", "c"], {
    runs: 3,
    measure: async (row) => {
      order.push(row);
      return { ms: 1 };
    },
  });
  t.equal(order.join(""), "abccbaabc");
});

t.test("a slow row is measured less often", async (t) => {
  const measured = await measureInRounds([5, 5000], {
    runs: 4,
    runsOf: (_, first) => (first["ms"]! > 1000 ? 2 : 9),
    measure: async (row) => ({ ms: row }),
  });
  t.same(
    measured.map(({ runs }) => runs.length),
    [4, 2],
    "and never more often than requested",
  );
});

t.test("a failed row does not affect others and is not retried", async (t) => {
  let attempts = 0;
  const [bad, good] = await measureInRounds(["bad", "good"], {
    runs: 3,
    measure: async (row) => {
      if (row === "good") return { ms: 1 };
      attempts++;
      throw new Error("no such transport");
    },
  });
  t.equal(attempts, 1);
  t.equal(bad!.failure, "no such transport");
  t.equal(good!.runs.length, 3);
});
