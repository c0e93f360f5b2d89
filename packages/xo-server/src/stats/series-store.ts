import type { Steps } from "@xo-server/inventory";
import { MemoryShare, OBJECT_BYTES } from "./memory-share.js";
import type { LegendEntry } from "./legend.js";
import { MetricSeries } from "./metric-series.js";

/** Initial capacity of an object; grows with its rows. */
const FIRST_ROWS = 4;
/** Objects per step of a slice. */
const OBJECTS_PER_STEP = 50;

/** An object with metrics at the finest granularity. */
export interface TrackedObject {
  readonly series: MetricSeries;
  /** Id of the host that reports the object; undefined: the next host that does. */
  host: string | undefined;
  /** Time at which the latest row arrived, by the local clock, in ms. */
  receivedAt: number;
  /** Whether the host's whole archive was fetched on request. */
  isWhole: boolean;
  /** Whether its latest metrics are published. */
  isNow: boolean;
}

/**
 * Metrics of all objects, by pool and UUID, so that a pool cannot write another
 * pool's metrics. Objects that are no longer reported are removed when all
 * their rows have expired.
 */
export class SeriesStore {
  readonly share: MemoryShare;
  readonly #pools = new Map<string, Map<string, TrackedObject>>();
  #columns = 0;
  #rowBytes = 0;
  #objects = 0;

  constructor(share: MemoryShare) {
    this.share = share;
  }

  get objects(): number {
    return this.#objects;
  }

  /** Estimated size including overhead. */
  get bytes(): number {
    return this.#rowBytes + OBJECT_BYTES * this.#objects;
  }

  get(pool: string, uuid: string): TrackedObject | undefined {
    return this.#pools.get(pool)?.get(uuid);
  }

  /** @param end time before its first row, in s */
  add(pool: string, entry: LegendEntry, end: { step: number; end: number }) {
    let all = this.#pools.get(pool);
    if (all === undefined) {
      all = new Map<string, TrackedObject>();
      this.#pools.set(pool, all);
    }
    const before = all.get(entry.uuid);
    if (before !== undefined) {
      this.share.release(before.series);
      this.#count(before.series, -1);
    }
    const followed: TrackedObject = {
      series: new MetricSeries(entry, end, FIRST_ROWS),
      host: undefined,
      receivedAt: -Infinity,
      isWhole: false,
      isNow: before?.isNow ?? false,
    };
    all.set(entry.uuid, followed);
    this.#count(followed.series, 1);
    return followed;
  }

  /** Allocates space for one more row, or removes rows when memory is scarce. */
  fit({ series }: TrackedObject): void {
    const most = this.share.rowsOf(series);
    const isFull = series.rows === series.capacity;
    if (series.capacity <= most && !(isFull && series.capacity < most)) return;
    this.resize(series, Math.min(most, 2 * series.capacity));
  }

  /** Changes the columns of an object. */
  setColumns({ series }: TrackedObject, { columnSet }: LegendEntry): void {
    if (series.columnSet === columnSet) return;
    // Its share of the memory limit changes.
    const isWanted = this.share.isRetained(series);
    this.share.release(series);
    this.#count(series, -1);
    series.setColumns(columnSet);
    this.#count(series, 1);
    if (isWanted) this.share.retain(series);
  }

  resize(series: MetricSeries, rows: number): void {
    this.#count(series, -1);
    series.resize(rows);
    this.#count(series, 1);
  }

  /** Removes all objects for which `isExpired` returns true. */
  *sweep(isExpired: (pool: string, followed: TrackedObject) => boolean): Steps {
    let seen = 0;
    for (const [pool, all] of this.#pools) {
      for (const [uuid, followed] of all) {
        if (++seen % OBJECTS_PER_STEP === 0) yield;
        if (!isExpired(pool, followed)) continue;
        // It may have been replaced between two slices.
        if (all.get(uuid) === followed) all.delete(uuid);
        this.share.release(followed.series);
        this.#count(followed.series, -1);
      }
      if (all.size === 0) this.#pools.delete(pool);
    }
    this.share.divide(this.#columns, this.#objects);
  }

  #count({ columnSet, byteLength }: MetricSeries, by: 1 | -1): void {
    this.#objects += by;
    this.#columns += by * columnSet.names.length;
    this.#rowBytes += by * byteLength;
  }
}
