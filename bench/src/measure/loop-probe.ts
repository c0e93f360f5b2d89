import { performance } from "node:perf_hooks";
import { createCoreWaitReader } from "./core-wait.js";

interface LoopBlocks {
  /** The longest time in which the event loop did not come round. */
  readonly longestBlockMs: number;
  /** All times longer than 50 ms, added up. */
  readonly blocksOver50Ms: number;
  /** The longest such time less what the thread waited for a core meanwhile: the part that is this program's own. */
  readonly longestOwnBlockMs: number;
}

/** The timer comes every millisecond: a gap of g ms between two calls means a block of g - 1 ms. */
const PERIOD_MS = 1;
const LONG_BLOCK_MS = 50;

/**
 * Watches the event loop of this thread from outside of all that is measured:
 * a timer of 1 ms and the longest gaps between its calls. The same in each row.
 */
export function startLoopProbe(): { stop(): Promise<LoopBlocks> } {
  const readCoreWaitMs = createCoreWaitReader();
  let last = performance.now();
  let lastWaitMs = readCoreWaitMs();
  let longest = 0;
  let longestOwn = 0;
  let over = 0;
  const look = (): void => {
    const now = performance.now();
    const waitMs = readCoreWaitMs();
    const block = now - last - PERIOD_MS;
    longest = Math.max(longest, block);
    longestOwn = Math.max(longestOwn, block - (waitMs - lastWaitMs));
    if (block > LONG_BLOCK_MS) over += block;
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
        longestBlockMs: longest,
        blocksOver50Ms: over,
        longestOwnBlockMs: longestOwn,
      };
    },
  };
}
