interface CountCheckOptions {
  /** Milliseconds; only differences matter. */
  readonly now: () => number;
  /** Least time between two listings of a class in milliseconds; default 5,000. */
  readonly minMs?: number;
  /**
   * While listings of a class find no difference, the interval doubles up to
   * this; default 600,000.
   */
  readonly maxMs?: number;
}

/** The last listing of a class, and the least time until the next one. */
interface Attempt {
  at: number;
  waitMs: number;
}

/** XAPI always reports 0 of these in valid_ref_counts. */
const uncounted = new Set(["message", "role"]);

/**
 * Finds the classes that must be listed again because the number of objects
 * differs from the pool's `valid_ref_counts`. XAPI drops deletions silently:
 * each database table keeps the last 512. A class whose counts always
 * differ is listed less and less often.
 */
export class CountCheck {
  readonly #now: () => number;
  readonly #minMs: number;
  readonly #maxMs: number;
  readonly #attempts = new Map<string, Attempt>();

  constructor(options: CountCheckOptions) {
    this.#now = options.now;
    this.#minMs = options.minMs ?? 5_000;
    this.#maxMs = options.maxMs ?? 600_000;
  }

  /** Each class may be listed at once: deletions may have been lost with the events. */
  reset(): void {
    this.#attempts.clear();
  }

  /**
   * Classes whose count differs and whose interval has passed.
   * @param counts valid_ref_counts of the last event.from
   * @param mirroredCount number of mirrored objects of a class
   */
  due(
    classes: Iterable<string>,
    counts: ReadonlyMap<string, number>,
    mirroredCount: (className: string) => number,
  ): string[] {
    return [...classes].filter((className) => {
      const count = counts.get(className);
      if (count === undefined || uncounted.has(className)) return false;
      if (count === mirroredCount(className)) {
        this.#attempts.delete(className);
        return false;
      }
      const last = this.#attempts.get(className);
      return last === undefined || this.#now() - last.at >= last.waitMs;
    });
  }

  /**
   * To be called after each listing that `due` caused.
   * @param foundChanges whether the listing changed anything in the store
   */
  recordListing(className: string, foundChanges: boolean): void {
    const last = this.#attempts.get(className);
    const waitMs =
      foundChanges || last === undefined
        ? this.#minMs
        : Math.min(this.#maxMs, last.waitMs * 2);
    this.#attempts.set(className, { at: this.#now(), waitMs });
  }
}
