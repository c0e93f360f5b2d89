/** The timers that tests replace. Handles are opaque. */
export interface Timers {
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

/**
 * A clock for durations: monotonic, without a date.
 * `kind` is a brand only: it keeps the compiler from taking one clock for the other.
 */
export interface MonotonicClock extends Timers {
  readonly kind?: "monotonic";
  /** Milliseconds since an arbitrary moment. */
  now(): number;
}

/** A clock for dates: it follows the system time, which may be set back. */
export interface WallClock extends Timers {
  readonly kind?: "wall";
  /** Milliseconds since the epoch. */
  now(): number;
}

const timers: Timers = {
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: clearTimer,
};

/** Timers that do not keep the process alive (in a browser: the same timers). */
const unrefTimers: Timers = {
  setTimeout(callback, ms) {
    const handle: unknown = setTimeout(callback, ms);
    if (typeof handle === "object" && handle !== null && "unref" in handle)
      (handle as { unref(): void }).unref();
    return handle;
  },
  clearTimeout: clearTimer,
};

function clearTimer(handle: unknown): void {
  clearTimeout(handle as Parameters<typeof clearTimeout>[0]);
}

export const monotonicClock: MonotonicClock = {
  kind: "monotonic",
  now: () => performance.now(),
  ...timers,
};

export const wallClock: WallClock = {
  kind: "wall",
  now: () => Date.now(),
  ...timers,
};

/** For background work that must not delay the end of the process. */
export const backgroundMonotonicClock: MonotonicClock = {
  ...monotonicClock,
  ...unrefTimers,
};

/** For background work that must not delay the end of the process. */
export const backgroundWallClock: WallClock = { ...wallClock, ...unrefTimers };
