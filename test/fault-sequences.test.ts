import t from "tap";
import { FaultBench, type SequenceResult } from "./fault-sequences.js";

// Real pools on a busy machine. The runner reads the limit of a file, in ms, from a comment.
t.comment("timeout=600000");

/** Set it to run more sequences, for example 1000; each takes some seconds. */
const COUNT = Number(process.env["XO_FAULT_SEQUENCES"] ?? 12);
/** First seed; `npm test` sets it, and runs a quarter of the sequences. */
const FIRST = Number(process.env["XO_FAULT_SEED"] ?? 1);

/** Seeds as in packages/inventory/test/seeds.ts: a quarter of them in `npm test`. */
function* seeds(): Generator<number> {
  const chosen = process.env["XO_TEST_SEED"];
  const isAll =
    chosen === undefined || process.env["XO_FAULT_SEQUENCES"] !== undefined;
  const count = isAll ? COUNT : Math.ceil(COUNT / 4);
  const first = FIRST + (isAll ? 0 : (Number(chosen) % 4) * count);
  for (let seed = first; seed < first + count; seed++) yield seed;
}

t.test(
  "after random faults the mirror is equal, and never lied",
  { timeout: 24 * 3_600_000 },
  async (t) => {
    const bench = await FaultBench.start();
    t.teardown(() => bench.stop());
    const results: SequenceResult[] = [];
    for (const seed of seeds()) {
      const result = await bench.run(seed);
      results.push(result);
      const { faults, problems } = result;
      if (problems.length > 0)
        t.fail(`seed ${seed}: ${problems.join("; ")}`, { faults });
    }
    const recovery = results
      .map(({ recoveryMs }) => recoveryMs)
      .toSorted((a, b) => a - b);
    const at = (part: number) =>
      Math.round(recovery[Math.floor((recovery.length - 1) * part)] ?? 0);
    const longest = Math.max(
      ...results.map(({ longestUnknownMs }) => longestUnknownMs),
    );
    t.comment(
      `${results.length} sequences, equal after p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms; a change was unknown for ${Math.round(longest)} ms at most while the pool was reported as current`,
    );
    t.pass(`${results.length} sequences`);
  },
);
