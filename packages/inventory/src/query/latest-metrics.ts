import type { ViewTable } from "../catalog/catalog.js";
import type { ChangeLog } from "./change-log.js";
import { METRICS_FIELD, metricNames } from "./metrics.js";
import { NumberColumn } from "./number-column.js";
import type { MetricsTable } from "./query.js";
import type { SlicedTask } from "./sliced-task.js";

interface LatestMetricsOptions {
  readonly table: ViewTable;
  readonly log: ChangeLog;
  /** Published values of these rows have changed; "all": of any row. */
  readonly onRows: (rows: Iterable<number> | "all") => void;
  /** All values that were set are published. */
  readonly onPublished: () => void;
}

/** The latest metrics of the objects of one table. */
export class LatestMetrics {
  /** By index in metricNames. */
  readonly columns = metricNames.map(
    (name) => new NumberColumn([METRICS_FIELD, name]),
  );
  readonly #options: LatestMetricsOptions;
  #isPublishing = false;

  constructor(options: LatestMetricsOptions) {
    this.#options = options;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const column of this.columns) bytes += column.byteLength;
    return bytes;
  }

  set(id: string, metric: number, value: number): void {
    const row = this.#options.table.findId(id);
    if (row >= 0) this.columns[metric]?.setNext(row, value);
  }

  get(id: string, metric: number): number {
    const row = this.#options.table.findId(id);
    return row < 0 ? NaN : (this.columns[metric]?.nextValue(row) ?? NaN);
  }

  /**
   * Publishes the values that were set. Rejects with errors of onRows and
   * onPublished.
   */
  async commit(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    await this.#options.table.run(this.#publish());
  }

  /** Clears the metrics of an object that is being removed. */
  unset(row: number): void {
    for (const column of this.columns) column.unset(row);
  }

  /** The known metrics of a row; undefined when there are none. */
  object(
    row: number,
    metrics: readonly number[],
  ): Record<string, number> | undefined {
    const object: Record<string, number> = {};
    let isEmpty = true;
    for (const metric of metrics) {
      const value = this.columns[metric]!.value(row);
      if (Number.isNaN(value)) continue;
      object[metricNames[metric]!] = value;
      isEmpty = false;
    }
    return isEmpty ? undefined : object;
  }

  *#publish(): SlicedTask<void> {
    const { log, onRows, onPublished } = this.#options;
    // Values set from here on belong to the next commit or to this one.
    this.#isPublishing = false;
    for (const column of this.columns) {
      const rows = column.publish();
      if (rows === "all") column.bulkChangedAt = log.recordBulkChange();
      else for (const row of rows) log.recordColumn(row, column);
      if (rows.length > 0) onRows(rows);
      yield;
    }
    log.closeFrame();
    onPublished();
  }
}

interface DeferredMetricsOptions {
  /** Called when values could not be published. */
  readonly onError: (error: unknown) => void;
  /** Called when a value is read. */
  readonly onRead: () => void;
}

/**
 * The metrics table of a class that may not be followed yet: until then all
 * values are discarded.
 */
export class DeferredMetricsTable implements MetricsTable {
  #metrics: LatestMetrics | undefined;
  readonly #options: DeferredMetricsOptions;

  constructor(options: DeferredMetricsOptions) {
    this.#options = options;
  }

  attach(metrics: LatestMetrics): void {
    this.#metrics = metrics;
  }

  set(id: string, metric: number, value: number): void {
    this.#metrics?.set(id, metric, value);
  }

  get(id: string, metric: number): number {
    this.#options.onRead();
    return this.#metrics?.get(id, metric) ?? NaN;
  }

  commit(): void {
    this.#metrics?.commit().catch(this.#options.onError);
  }
}
