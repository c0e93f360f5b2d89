/** Number of finished sections that are stored between two probes. */
const RING_SIZE = 32;
/** Minimum length: shorter sections cannot explain a block. */
const MIN_MS = 1;

/** A named section of the main thread's time. */
interface Section {
  readonly label: string;
  readonly startedAt: number;
  readonly ms: number;
}

/**
 * Records named sections, so that blocks can be attributed. A section costs two
 * clock readings: about 0.1 us.
 */
interface Sections {
  /**
   * Runs `section` under a label such as `inventory: apply batch` and returns
   * its result.
   */
  run<Result>(label: string, section: () => Result): Result;
  /** The longest section of at least a millisecond that ended after `time`. */
  longestSince(time: number): Section | undefined;
}

/** Stores the last sections in a ring. @param now monotonic, in milliseconds */
export function createSections(now: () => number): Sections {
  const ring: Section[] = [];
  let next = 0;

  function record(label: string, startedAt: number): void {
    const ms = now() - startedAt;
    if (ms < MIN_MS) return;
    ring[next] = { label, startedAt, ms };
    next = (next + 1) % RING_SIZE;
  }

  return {
    run(label, section) {
      const startedAt = now();
      try {
        return section();
      } finally {
        record(label, startedAt);
      }
    },
    longestSince(time) {
      let longest: Section | undefined;
      for (const section of ring)
        if (
          section.startedAt + section.ms > time &&
          section.ms > (longest?.ms ?? 0)
        )
          longest = section;
      return longest;
    },
  };
}
