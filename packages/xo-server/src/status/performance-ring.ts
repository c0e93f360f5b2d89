/** Samples of the server's performance. Times in ms, sizes in bytes. */
export const performanceColumns = [
  /** Delay of the event loop. */
  "loopP50Ms",
  "loopP99Ms",
  "loopMaxMs",
  /** Event loop utilization, 0 to 1. */
  "utilization",
  /** Number of blocks of more than 50 ms. */
  "blocks",
  /** CPUs in use by all threads: 1 is one CPU. */
  "cpu",
  /** Parser pool: queued tasks, tasks per second, and their duration. */
  "parserQueued",
  "parserTasks",
  "parserWaitP99Ms",
  "parserRunP99Ms",
  "rssBytes",
  "heapUsedBytes",
  "externalBytes",
  /** Connected clients. */
  "clients",
  /** Changes of all pools per second. */
  "changes",
] as const;
export type PerformanceColumn = (typeof performanceColumns)[number];
export type PerformanceSample = Readonly<Record<PerformanceColumn, number>>;

const WIDTH = performanceColumns.length + 1;

/**
 * The last samples, oldest first, in a fixed buffer: WIDTH numbers each, the
 * first is the time.
 */
export class PerformanceRing {
  readonly #size: number;
  readonly #numbers: Float64Array;
  #written = 0;

  constructor(size: number) {
    this.#size = size;
    this.#numbers = new Float64Array(size * WIDTH);
  }

  /** @param at ms since the epoch */
  push(at: number, sample: PerformanceSample): void {
    const start = (this.#written++ % this.#size) * WIDTH;
    this.#numbers[start] = at;
    performanceColumns.forEach((name, i) => {
      this.#numbers[start + 1 + i] = sample[name];
    });
  }

  /** Columns of the samples after `since` (ms since the epoch). */
  read(since = 0): {
    times: number[];
    columns: Record<PerformanceColumn, number[]>;
  } {
    const starts: number[] = [];
    const first = Math.max(0, this.#written - this.#size);
    for (let i = first; i < this.#written; i++) {
      const start = (i % this.#size) * WIDTH;
      if (this.#numbers[start]! > since) starts.push(start);
    }
    const column = (offset: number) =>
      starts.map((start) => this.#numbers[start + offset]!);
    return {
      times: column(0),
      columns: Object.fromEntries(
        performanceColumns.map((name, i) => [name, column(i + 1)]),
      ) as Record<PerformanceColumn, number[]>,
    };
  }
}
