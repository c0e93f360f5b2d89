import { createHistogram } from "@xo-server/perf";
import { createCoreWaitReader } from "./core-wait.js";

/** Times in which the event loop did not come round, of the program's own making: waits for a core are taken off. */
interface Blocks {
  readonly longestMs: number;
  readonly longestOwnMs: number;
  /** Number of own blocks longer than this time, in ms. */
  readonly over5: number;
  readonly over10: number;
  readonly over20: number;
  readonly over50: number;
  /** Turns of the timer that were counted. */
  readonly probes: number;
}

/** The timer comes every millisecond: a gap of g ms between two calls means a block of g - 1 ms. */
const PERIOD_MS = 1;

/** Watches the event loop like loop-probe, and counts the blocks by length. */
export function watchBlocks(): { stop(): Promise<Blocks> } {
  const readCoreWaitMs = createCoreWaitReader();
  const own = createHistogram();
  let last = performance.now();
  let lastWaitMs = readCoreWaitMs();
  let longestMs = 0;
  const look = (): void => {
    const now = performance.now();
    const waitMs = readCoreWaitMs();
    const block = now - last - PERIOD_MS;
    longestMs = Math.max(longestMs, block);
    own.record(block - (waitMs - lastWaitMs));
    last = now;
    lastWaitMs = waitMs;
  };
  const timer = setInterval(look, PERIOD_MS);
  return {
    async stop() {
      // A block that is just ending is seen by the next call of the timer.
      await new Promise((resolve) => setTimeout(resolve, 2 * PERIOD_MS));
      clearInterval(timer);
      return {
        longestMs,
        longestOwnMs: own.max,
        over5: own.countOver(5),
        over10: own.countOver(10),
        over20: own.countOver(20),
        over50: own.countOver(50),
        probes: own.count,
      };
    },
  };
}

/** The blocks as figures, each name behind the phase's. */
export function blockFigures(
  phase: string,
  { probes, ...blocks }: Blocks,
): Record<string, number> {
  return Object.fromEntries([
    [`${phase}Probes`, probes],
    ...Object.entries(blocks).map(([name, value]) => [
      `${phase}Block${name[0]!.toUpperCase()}${name.slice(1)}`,
      value,
    ]),
  ]) as Record<string, number>;
}
