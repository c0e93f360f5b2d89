/** Maximum number of identical lines that are logged in a window. */
const MAX_REPEATS = 10;
const WINDOW_MS = 60_000;
/** Maximum number of different lines in a window; above, the counts of all are reset. */
const MAX_LINES = 1_000;

interface Window {
  readonly end: number;
  count: number;
}

interface RepeatLimitOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls back after a time, in ms, without keeping the process alive. */
  readonly schedule?: (callback: () => void, ms: number) => void;
}

/**
 * Limits identical warnings and errors to 10 a minute, so that a recurring fault
 * does not fill the log. The number of suppressed lines follows at the end of the
 * minute.
 */
export class RepeatLimit {
  readonly #windows = new Map<string, Window>();
  readonly #now: () => number;
  readonly #schedule: (callback: () => void, ms: number) => void;

  constructor({ now, schedule = later }: RepeatLimitOptions) {
    this.#now = now;
    this.#schedule = schedule;
  }

  /**
   * @param key lines with the same key are identical
   * @param summarize called at the end of the window with the number of suppressed
   * lines
   * @returns whether to log this line
   */
  admits(key: string, summarize: (suppressed: number) => void): boolean {
    const now = this.#now();
    let window = this.#windows.get(key);
    if (window === undefined || window.end <= now) {
      if (this.#windows.size >= MAX_LINES) this.#windows.clear();
      window = { end: now + WINDOW_MS, count: 0 };
      this.#windows.set(key, window);
    }
    window.count++;
    if (window.count === MAX_REPEATS + 1) {
      const limited = window;
      this.#schedule(() => {
        summarize(limited.count - MAX_REPEATS);
      }, window.end - now);
    }
    return window.count <= MAX_REPEATS;
  }
}

function later(callback: () => void, ms: number): void {
  setTimeout(callback, ms).unref();
}
