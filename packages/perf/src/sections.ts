/** How many finished sections are remembered between two probes. */
const RING_SIZE = 32;
/** Shorter sections cannot explain a block. */
const MIN_MS = 1;

/** A stretch of the main thread's time that has a name. */
export interface Section {
  readonly label: string;
  readonly startedAt: number;
  readonly ms: number;
}

/** Names what runs, so that a block can say what blocked. Two clock readings a section: about 0.1 us. */
export interface Sections {
  /** Runs `section` under a name such as `inventory: apply batch` and gives its result on. */
  run<Result>(label: string, section: () => Result): Result;
  /** The longest named section that ended after `time`, if any took a millisecond or more. */
  longestSince(time: number): Section | undefined;
}

/** A ring of the last sections; `now` in milliseconds, monotonic. */
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
