/** What is written down of the server, once an interval. Times in ms, sizes in bytes. */
export const performanceColumns = [
  /** How late the event loop was. */
  "loopP50Ms",
  "loopP99Ms",
  "loopMaxMs",
  /** 0 to 1: the share of time in which it was busy. */
  "utilization",
  /** Blocks of more than 50 ms. */
  "blocks",
  /** Processors in use by all threads: 1 is one of them. */
  "cpu",
  /** Of the parser pool: tasks that wait, tasks a second, and what they took. */
  "parserQueued",
  "parserTasks",
  "parserWaitP99Ms",
  "parserRunP99Ms",
  "rssBytes",
  "heapUsedBytes",
  "externalBytes",
  /** Pages and programs that are connected. */
  "clients",
  /** Changes of all pools a second. */
  "changes",
] as const;
export type PerformanceColumn = (typeof performanceColumns)[number];
export type PerformanceSample = Readonly<Record<PerformanceColumn, number>>;

const WIDTH = performanceColumns.length + 1;

/** The last samples, oldest first, in fixed memory: WIDTH numbers each, the first of them the time. */
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

  /** Columns of what was written after `since` (ms since the epoch). */
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
