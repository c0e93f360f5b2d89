import t from "tap";
import { FaultBench, type FaultResult } from "./fault-bench.js";
import { allFaults } from "./faults.js";
import { chosenRange } from "./chosen-range.js";
import { seededRandom } from "./seeded-random.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=600000");
const LIMIT = { timeout: 600_000 };

/** `npm run faults` runs more sequences. */
const SEQUENCES = 12;

t.test(
  "after random faults the mirror is equal and was honest",
  LIMIT,
  async (t) => {
    const bench = await FaultBench.start();
    t.teardown(() => bench.stop());
    const results: FaultResult[] = [];
    for (const index of chosenRange(SEQUENCES)) {
      const seed = index + 1;
      const result = await bench.runSequence(seed);
      results.push(result);
      const { problems, faults } = result;
      t.same(problems, [], `seed ${seed}`, { faults });
    }
    t.comment(summary(results));
  },
);

t.test(
  "after each fault alone the mirror is equal and was honest",
  LIMIT,
  async (t) => {
    const bench = await FaultBench.start();
    t.teardown(() => bench.stop());
    const results: FaultResult[] = [];
    for (const index of chosenRange(allFaults.length)) {
      const fault = allFaults[index]!;
      const result = await bench.run([fault], seededRandom(index));
      results.push(result);
      t.same(result.problems, [], fault.name);
    }
    t.comment(summary(results));
  },
);

function summary(results: readonly FaultResult[]): string {
  const longest = (key: "recoveryMs" | "longestUnknownMs") =>
    Math.round(Math.max(...results.map((result) => result[key])));
  return `${results.length} runs, equal after ${longest("recoveryMs")} ms at most; a change was unknown for ${longest("longestUnknownMs")} ms at most while the pool was reported as current`;
}
