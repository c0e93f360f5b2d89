import { performance } from "node:perf_hooks";

export interface LoopBlocks {
  /** The longest time in which the event loop did not come round. */
  readonly longestBlockMs: number;
  /** All times longer than 50 ms, added up. */
  readonly blocksOver50Ms: number;
}

/** The timer comes every millisecond: a gap of g ms between two calls means a block of g - 1 ms. */
const PERIOD_MS = 1;
const LONG_BLOCK_MS = 50;

/**
 * Watches the event loop of this thread from outside of all that is measured:
 * a timer of 1 ms and the longest gaps between its calls. The same in each row.
 */
export function startLoopProbe(): { stop(): Promise<LoopBlocks> } {
  let last = performance.now();
  let longest = 0;
  let over = 0;
  const look = (): void => {
    const now = performance.now();
    const block = now - last - PERIOD_MS;
    last = now;
    if (block > longest) longest = block;
    if (block > LONG_BLOCK_MS) over += block;
  };
  const timer = setInterval(look, PERIOD_MS);
  return {
    async stop() {
      // A block that is just ending is seen by the next call of the timer.
      await new Promise((resolve) => setTimeout(resolve, 2 * PERIOD_MS));
      clearInterval(timer);
      return { longestBlockMs: longest, blocksOver50Ms: over };
    },
  };
}
