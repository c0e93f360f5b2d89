import { measureInChild } from "../harness/child.js";
import { toResult, type Result } from "../harness/result.js";
import { measureInRounds } from "../harness/rounds.js";
import { startSimulator } from "../harness/simulator.js";
import type { LoadJob } from "../measure/load-job.js";

const BIG = ["A", "B", "C"];
const SMALL = Array.from({ length: 40 }, () => "C");
const TIMEOUT_MS = 180_000;

/** A, B, C and forty small pools at once in one process; and the forty alone, for comparison. */
export async function measureMany(
  runs: number,
  onRun: (text: string) => void,
): Promise<Result> {
  const simulator = await startSimulator(
    [...BIG, ...SMALL].flatMap((profile) => ["--pool", profile]),
  );
  try {
    const all = simulator.pools;
    const small = all.slice(BIG.length);
    const load = (pools: typeof all) => {
      const job: LoadJob = {
        pools,
        transport: "auto",
        xml: "reader",
        place: "auto",
      };
      return measureInChild({
        program: "measure/load.js",
        job,
        timeoutMs: TIMEOUT_MS,
      });
    };
    const [measured] = await measureInRounds(["many"], {
      runs,
      measure: async () => {
        const together = await load(all);
        const alone = await load(small);
        return {
          ...together,
          poolAMs: together["pool0Ms"]!,
          poolBMs: together["pool1Ms"]!,
          poolCMs: together["pool2Ms"]!,
          ...spreadOfSmall(together),
          aloneLastMs: alone["ms"]!,
        };
      },
      onRun: (_, outcome) =>
        onRun(
          outcome instanceof Error
            ? `many: ${outcome.message}`
            : `many: ${outcome["ms"]?.toFixed(0)} ms`,
        ),
    });
    return toResult({ pool: "many", mode: "auto", place: "auto" }, measured!);
  } finally {
    await simulator.stop();
  }
}

function spreadOfSmall(figures: Readonly<Record<string, number>>) {
  const times = SMALL.map((_, i) => figures[`pool${i + BIG.length}Ms`]!).sort(
    (a, b) => a - b,
  );
  return {
    smallFirstMs: times[0]!,
    smallMedianMs: times[times.length >> 1]!,
    smallLastMs: times.at(-1)!,
  };
}
