import type { SimulatorClock } from "../../src/clock.js";

/** Real time, but faster by this factor: long timeouts pass in a moment. */
export function fastClock(factor: number): SimulatorClock {
  const start = performance.timeOrigin;
  return {
    now: () => start + performance.now() * factor,
    setTimeout: (callback, ms) => setTimeout(callback, ms / factor),
    clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
  };
}
