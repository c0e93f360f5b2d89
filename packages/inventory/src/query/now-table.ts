import type { ViewTable } from "../catalog/catalog.js";
import type { ChangeLog } from "./change-log.js";
import { NOW, nowMetrics } from "./now-metrics.js";
import { NumberColumn } from "./number-column.js";
import type { NowTable } from "./query.js";
import type { Work } from "./work.js";

export interface MeasuredOptions {
  readonly table: ViewTable;
  readonly log: ChangeLog;
  /** These rows differ from now on; `all`: any may. */
  readonly onRows: (rows: Iterable<number> | "all") => void;
  /** All that was set is seen. */
  readonly onPublished: () => void;
}

/** What is measured of the objects of one table. */
export class Measured {
  /** By the number of the metric. */
  readonly columns = nowMetrics.map((name) => new NumberColumn([NOW, name]));
  readonly #options: MeasuredOptions;
  #isPublishing = false;

  constructor(options: MeasuredOptions) {
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

  /** @throws (rejects) what onRows and onPublished throw */
  async commit(): Promise<void> {
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    await this.#options.table.run(this.#publish());
  }

  /** Of an object that goes. */
  unset(row: number): void {
    for (const column of this.columns) column.unset(row);
  }

  /** What is known of a row of these metrics; undefined: nothing is. */
  object(
    row: number,
    metrics: readonly number[],
  ): Record<string, number> | undefined {
    const object: Record<string, number> = {};
    let isEmpty = true;
    for (const metric of metrics) {
      const value = this.columns[metric]!.value(row);
      if (Number.isNaN(value)) continue;
      object[nowMetrics[metric]!] = value;
      isEmpty = false;
    }
    return isEmpty ? undefined : object;
  }

  *#publish(): Work<void> {
    const { log, onRows, onPublished } = this.#options;
    // What is set from here on belongs to the next commit, or to this one.
    this.#isPublishing = false;
    for (const column of this.columns) {
      const rows = column.publish();
      if (rows === "all") column.renewedAt = log.noteRenewed();
      else for (const row of rows) log.noteColumn(row, column);
      if (rows.length > 0) onRows(rows);
      yield;
    }
    log.close();
    onPublished();
  }
}

/** Of a class that may not be followed yet: until then nothing is known of its objects. */
export class LaterNowTable implements NowTable {
  #measured: Measured | undefined;
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  begin(measured: Measured): void {
    this.#measured = measured;
  }

  set(id: string, metric: number, value: number): void {
    this.#measured?.set(id, metric, value);
  }

  get(id: string, metric: number): number {
    return this.#measured?.get(id, metric) ?? NaN;
  }

  commit(): void {
    this.#measured?.commit().catch(this.#onError);
  }
}
