export interface CountCheckOptions {
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** The least time between two listings of a class. */
  readonly leastMs?: number;
  /** As long as listings of a class find nothing, the time between them grows up to this. */
  readonly mostMs?: number;
}

interface Attempt {
  at: number;
  waitMs: number;
}

/** XAPI counts messages as 0 whatever there is. */
const uncounted = new Set(["message"]);

/**
 * Finds the classes that must be listed anew because their count differs from
 * the pool's: XAPI drops deletions without a word (each table remembers 512).
 * A class whose counts differ by nature is asked for less and less often.
 */
export class CountCheck {
  readonly #now: () => number;
  readonly #leastMs: number;
  readonly #mostMs: number;
  readonly #attempts = new Map<string, Attempt>();

  constructor(options: CountCheckOptions) {
    this.#now = options.now;
    this.#leastMs = options.leastMs ?? 5_000;
    this.#mostMs = options.mostMs ?? 600_000;
  }

  /** Those of `classes` that differ and whose turn it is. */
  due(
    classes: Iterable<string>,
    counts: ReadonlyMap<string, number>,
    held: (className: string) => number,
  ): string[] {
    return [...classes].filter((className) => {
      const count = counts.get(className);
      if (count === undefined || uncounted.has(className)) return false;
      if (count === held(className)) {
        this.#attempts.delete(className);
        return false;
      }
      const last = this.#attempts.get(className);
      return last === undefined || this.#now() - last.at >= last.waitMs;
    });
  }

  /** The class has been listed; did that find anything? */
  listed(className: string, hasFound: boolean): void {
    const last = this.#attempts.get(className);
    const waitMs =
      hasFound || last === undefined
        ? this.#leastMs
        : Math.min(this.#mostMs, last.waitMs * 2);
    this.#attempts.set(className, { at: this.#now(), waitMs });
  }
}
