/** Time of servers and of simulated pools alike. */
export interface FastClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Real time, accelerated by a factor: minutes pass in seconds. */
export function fastClock(factor: number): FastClock {
  const start = Date.now();
  const begun = performance.now();
  return {
    now: () => start + (performance.now() - begun) * factor,
    setTimeout: (callback, ms) => setTimeout(callback, ms / factor),
    clearTimeout: (handle) => {
      clearTimeout(handle as NodeJS.Timeout | undefined);
    },
  };
}
