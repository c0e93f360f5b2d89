import type { Points, StatsAnswer } from "./stats-answer.js";

/** Statistics of one object at one granularity; new points are appended, old ones dropped. */
export class StatsTrack {
  readonly #most: number;
  readonly #columns = new Map<string, (number | null)[]>();
  #length = 0;
  /** Time of the last point in s since the epoch; 0: no points yet. */
  end = 0;
  /** Interval of the points in s. */
  step = 0;

  /** @param most points to keep */
  constructor(most: number) {
    this.#most = most;
  }

  get length(): number {
    return this.#length;
  }

  /** Paths of columns that are not empty. */
  get paths(): readonly string[] {
    return [...this.#columns.keys()];
  }

  column(path: string): Points | undefined {
    return this.#columns.get(path);
  }

  /** Appends the points that are newer than the last one. */
  take({ endTimestamp, interval, columns }: StatsAnswer): void {
    const added = lengthOf(columns);
    if (this.#length === 0 || interval !== this.step) this.#begin(interval);
    const isFirst = this.#length === 0;
    const passed = isFirst
      ? added
      : Math.round((endTimestamp - this.end) / interval);
    if (passed <= 0) return;
    this.#append(columns, Math.min(passed, this.#most));
    this.end = endTimestamp;
  }

  #begin(interval: number): void {
    this.step = interval;
    this.#columns.clear();
    this.#length = 0;
  }

  #append(columns: ReadonlyMap<string, Points>, count: number): void {
    const before = this.#length;
    for (const path of columns.keys())
      if (!this.#columns.has(path))
        this.#columns.set(path, new Array<null>(before).fill(null));
    for (const [path, kept] of this.#columns) {
      const points = columns.get(path) ?? [];
      for (let i = count; i > 0; i--) kept.push(points.at(-i) ?? null);
      kept.splice(0, Math.max(0, kept.length - this.#most));
      if (kept.every((value) => value === null)) this.#columns.delete(path);
    }
    this.#length = Math.min(before + count, this.#most);
  }
}

function lengthOf(columns: ReadonlyMap<string, Points>): number {
  let length = 0;
  for (const points of columns.values())
    length = Math.max(length, points.length);
  return length;
}
