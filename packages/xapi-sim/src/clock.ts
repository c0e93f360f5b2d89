/** Time as the simulator sees it. `now` is Unix time in milliseconds, with a fraction. */
export interface SimulatorClock {
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

export const systemClock: SimulatorClock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

/** XAPI's way to write a moment, `20261121T03:54:40Z`: no dashes, no fractions. */
export function toDatetime(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace(/-/g, "")
    .replace(/\.\d+Z$/, "Z");
}

/** "Never" as XAPI writes it. */
export const NEVER = "19700101T00:00:00Z";
