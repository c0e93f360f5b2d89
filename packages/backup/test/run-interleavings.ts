import { setImmediate } from "node:timers/promises";
import { carryOut } from "../src/format/zstd-task.js";
import { ZstdModule } from "@xo-server/zstd";
import { ZstdThreads } from "../src/format/zstd-threads.js";
import { interleave } from "./interleaving.js";
import { integer, seededRandom } from "./random.js";

/*
 * Many interleavings of two servers, as collect-garbage.test.ts has few:
 *
 *   node packages/backup/dist/test/run-interleavings.js FIRST-SEED COUNT
 *
 * Without the test runner, which follows each promise, and with zstd in this thread instead of others: the blocks are
 * small, so that messages to threads would take longer than the work. As beside threads, other tasks take some steps
 * meanwhile. On Node.js with its own zstd that changes nothing. Garbage collection in one thread with a large young
 * generation saves a fifth: node --single-threaded-gc --max-semi-space-size=128.
 */

const PROGRESS_MS = 60_000;
/** Turns of the event loop while a block is compressed or opened, at most; in each another task may take a step. */
const MAX_TURNS = 5;

const [first, count] = process.argv.slice(2).map(Number);
if (!Number.isInteger(first) || !Number.isInteger(count))
  throw new Error("expected a first seed and a number of seeds");

const zstd = await ZstdModule.load();
const random = seededRandom(first!);
ZstdThreads.prototype.run = async (bytes, task) => {
  const turns = integer(random, MAX_TURNS + 1);
  for (let i = 0; i < turns; i++) await setImmediate();
  return carryOut(zstd, task, bytes);
};

let failed = 0;
let reported = performance.now();
for (let seed = first!; seed < first! + count!; seed++) {
  const problems = await interleave(seed).catch((error: unknown) => [
    String(error),
  ]);
  if (problems.length > 0) {
    failed++;
    process.stdout.write(`seed ${seed}: ${problems.join("\n  ")}\n`);
  }
  if (performance.now() < reported + PROGRESS_MS) continue;
  reported = performance.now();
  report(seed);
}
report(first! + count! - 1);
process.exitCode = failed > 0 ? 1 : 0;

function report(seed: number): void {
  const { user, system } = process.cpuUsage();
  const cpu = ((user + system) / 1e6).toFixed(0);
  process.stdout.write(
    `${new Date().toISOString()}: seeds ${first} to ${seed}, ${failed} with problems, ${cpu} CPU s\n`,
  );
}
