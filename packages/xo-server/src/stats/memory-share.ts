import type { MetricSeries } from "./metric-series.js";

/**
 * Overhead of an object besides its rows, in bytes: measured with 100,000
 * objects (`npm run bench -- stats`).
 */
export const OBJECT_BYTES = 1_000;

/**
 * Possible numbers of rows of the finest archive per object: the largest that
 * fits is used.
 */
const LEVELS = [120, 100, 80, 60, 50, 40, 30, 20, 12, 8, 4] as const;
export const MAX_ROWS = LEVELS[0];
/** Free memory required to increase the number of rows, as a factor, to avoid oscillation. */
const SPARE = 1.1;

/**
 * Divides the memory limit: at most half for requested objects, with all rows;
 * the rest for equally many rows of all objects. The least recently requested
 * object is released first.
 */
export class MemoryShare {
  readonly limitBytes: number;
  /** Most recently requested last. */
  readonly #retained = new Map<MetricSeries, () => void>();
  #retainedBytes = 0;
  #rows: number = MAX_ROWS;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Number of rows of objects that were not requested. */
  get rows(): number {
    return this.#rows;
  }

  /** @returns number of rows for this object */
  rowsOf(series: MetricSeries): number {
    return this.#retained.has(series) ? MAX_ROWS : this.#rows;
  }

  /** @param onRelease called when the object is released */
  retain(series: MetricSeries, onRelease: () => void = () => undefined): void {
    this.release(series);
    this.#retained.set(series, onRelease);
    this.#retainedBytes += costOf(series);
    for (const [oldest, release] of this.#retained) {
      if (this.#retainedBytes <= this.limitBytes / 2 || oldest === series)
        break;
      this.release(oldest);
      release();
    }
  }

  isRetained(series: MetricSeries): boolean {
    return this.#retained.has(series);
  }

  release(series: MetricSeries): void {
    if (this.#retained.delete(series)) this.#retainedBytes -= costOf(series);
  }

  /**
   * @param columns total number of columns of all objects
   * @param objects number of objects
   */
  divide(columns: number, objects: number): void {
    const room = this.limitBytes - this.#retainedBytes - objects * OBJECT_BYTES;
    const fits = (rows: number) =>
      4 * columns * rows * (rows > this.#rows ? SPARE : 1) <= room;
    this.#rows = LEVELS.find(fits) ?? LEVELS.at(-1)!;
  }
}

/** Memory of a series with all rows, whether or not they are filled, in bytes. */
function costOf({ columnSet, capacity }: MetricSeries): number {
  const rows = Math.max(capacity, MAX_ROWS);
  return OBJECT_BYTES + 4 * columnSet.names.length * rows;
}
