/** How many finished sections are remembered between two probes. */
const REMEMBERED = 32;
/** Shorter sections cannot explain a block. */
const LEAST_MS = 1;

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

  function remember(label: string, startedAt: number): void {
    const ms = now() - startedAt;
    if (ms < LEAST_MS) return;
    ring[next] = { label, startedAt, ms };
    next = (next + 1) % REMEMBERED;
  }

  return {
    run(label, section) {
      const startedAt = now();
      try {
        return section();
      } finally {
        remember(label, startedAt);
      }
    },
    longestSince(time) {
      let longest: Section | undefined;
      for (const one of ring)
        if (one.startedAt + one.ms > time && one.ms > (longest?.ms ?? 0))
          longest = one;
      return longest;
    },
  };
}
