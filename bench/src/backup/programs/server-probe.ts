import { openSync, readSync, writeFileSync } from "node:fs";

/*
 * Loaded into xo-server by `--import`: watches its event loop from one SIGUSR2 to the next and writes what it saw to the
 * file that XO_BENCH_PROBE names. Children of the server inherit NODE_OPTIONS; they are not watched.
 *
 * A block is a time in which a timer of 1 ms did not come. Its own part is at most what the main thread has computed in
 * it (/proc): on a busy or virtual machine most of a block is the time in which others had the core.
 */

/** Figures of a watch, in ms. */
export interface ServerBlocks {
  readonly longestMs: number;
  readonly longestOwnMs: number;
  /** Number of own blocks longer than this time, in ms. */
  readonly over5: number;
  readonly over10: number;
}

const PERIOD_MS = 1;

const target = process.env["XO_BENCH_PROBE"];
if (target !== undefined && process.argv[1]?.endsWith("/xo-server") === true)
  watchBetweenSignals(target);

function watchBetweenSignals(target: string): void {
  let stop: (() => ServerBlocks) | undefined;
  process.on("SIGUSR2", () => {
    if (stop === undefined) stop = watch();
    else writeFileSync(target, JSON.stringify(stop()));
  });
}

function watch(): () => ServerBlocks {
  const readRunMs = createRunReader();
  const own: number[] = [];
  let longestMs = 0;
  let last = performance.now();
  let lastRunMs = readRunMs();
  const timer = setInterval(() => {
    const now = performance.now();
    const runMs = readRunMs();
    const block = now - last - PERIOD_MS;
    longestMs = Math.max(longestMs, block);
    if (block > 5) own.push(Math.min(block, runMs - lastRunMs));
    last = now;
    lastRunMs = runMs;
  }, PERIOD_MS);
  return () => {
    clearInterval(timer);
    const over = (ms: number) => own.filter((one) => one > ms).length;
    return {
      longestMs,
      longestOwnMs: Math.max(0, ...own),
      over5: over(5),
      over10: over(10),
    };
  };
}

/** CPU time of the main thread, in ms. */
function createRunReader(): () => number {
  const file = openSync("/proc/self/schedstat", "r");
  const buffer = Buffer.alloc(128);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const [run = "0"] = buffer.toString("latin1", 0, length).split(" ");
    return Number(run) / 1e6;
  };
}
