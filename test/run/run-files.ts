import { availableParallelism } from "node:os";
import { TestProcess, type Outcome } from "./child-process.js";
import type { TestFile } from "./test-files.js";

/** Files that share a process at most: each process loads the modules of its package, which takes up to 3 CPU seconds. */
const BUCKET = 70;

/** Groups with the longest duration come first, so that no core works alone at the end. */
const SLOWEST = ["test/browser", "test", "packages/xo-server"];

/** Foreign programs, which wait most of the time between two polls. */
const WAITING = new Set(["test/clients", "test/peers"]);

/** Runs all files, some more at a time than there are cores, and beside them those that wait. */
export async function runFiles(
  files: readonly TestFile[],
  onEnd: (file: TestFile, outcome: Outcome) => void,
): Promise<void> {
  const [waiting, others] = partition(bucketsOf(files), ([file]) =>
    WAITING.has(file!.group),
  );
  const running = new Set<TestProcess>();
  const stop = () => {
    for (const child of running) child.kill();
    process.exit(130);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const jobs = Number(
    process.env["XO_TEST_JOBS"] ?? availableParallelism() + 1,
  );
  const started: TestFile[][] = [];
  const runAll = async () => {
    for (let bucket; (bucket = others.shift() ?? halfOfLongest(started));) {
      started.push(bucket);
      await runBucket(bucket, running, onEnd);
    }
  };
  await Promise.all([
    ...waiting.map((bucket) => runBucket(bucket, running, onEnd)),
    ...Array.from({ length: jobs }, runAll),
  ]);
}

/** Takes files of a running bucket, so that its process is not the last one for long. */
function halfOfLongest(started: readonly TestFile[][]): TestFile[] | undefined {
  const [longest] = started.toSorted((a, b) => b.length - a.length);
  if (longest === undefined || longest.length < 2) return undefined;
  return longest.splice(Math.ceil(longest.length / 2));
}

function partition<T>(
  all: readonly T[],
  test: (one: T) => boolean,
): [T[], T[]] {
  return [all.filter(test), all.filter((one) => !test(one))];
}

/**
 * A file that ends its process fails; the remaining files continue in a new process.
 * @param waiting loses files as they start, and to other processes
 */
async function runBucket(
  waiting: TestFile[],
  running: Set<TestProcess>,
  onEnd: (file: TestFile, outcome: Outcome) => void,
): Promise<void> {
  while (waiting.length > 0) {
    const child = new TestProcess();
    running.add(child);
    while (child.alive && waiting.length > 0) {
      const file = waiting.shift()!;
      onEnd(file, await child.run(file));
    }
    await child.end();
    running.delete(child);
  }
}

function bucketsOf(files: readonly TestFile[]): TestFile[][] {
  const alone = files.filter(({ ownProcess }) => ownProcess);
  const shared = files.filter(({ ownProcess }) => !ownProcess);
  const groups = [...new Set(shared.map(({ group }) => group))];
  const rank = ([file]: TestFile[]) => {
    const at = SLOWEST.indexOf(file!.group);
    return at === -1 ? SLOWEST.length : at;
  };
  return groups
    .flatMap((name) => split(shared.filter(({ group }) => group === name)))
    .concat(alone.map((file) => [file]))
    .toSorted((a, b) => rank(a) - rank(b));
}

/** Deals the files out to buckets of nearly equal size. */
function split(files: readonly TestFile[]): TestFile[][] {
  const count = Math.ceil(files.length / BUCKET);
  const buckets = Array.from({ length: count }, (): TestFile[] => []);
  files.forEach((file, index) => buckets[index % count]!.push(file));
  return buckets;
}
