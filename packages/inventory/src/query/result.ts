import type { Column } from "./column.js";
import type { LogFollower } from "./change-log.js";
import type { Columns } from "./columns.js";
import type { CompiledQuery } from "./request.js";
import { RowOrder } from "./row-order.js";
import { RowSet } from "./row-set.js";
import { RowTest } from "./row-test.js";
import { spliceRows } from "./splice-rows.js";
import type { SlicedTask } from "./sliced-task.js";

/**
 * With more changed rows than this, all rows are tested and sorted again, in
 * slices; so few take about two milliseconds in one step. The limit doubles if
 * as many change meanwhile.
 */
const MAX_INCREMENTAL = 512;
/** Rows whose regular expressions may be evaluated in one step. */
const MAX_UNTESTED = 8;
/** Passes over rows that change while the changed ones are tested. */
const MAX_PASSES = 8;

/** Rows tested between two yields, by columns and by whole objects. */
const STEP = 512;
const OBJECT_STEP = 8;

/**
 * The rows that match a query, in its order. `build` fills it, `catchUp`
 * updates it incrementally: only rows with a change in a column that the query
 * reads are tested.
 */
export class Result implements LogFollower {
  readonly columns: Columns;
  readonly query: CompiledQuery;
  /** Last frame of the change log that is included. */
  #seen = 0;
  #version = -1;
  /** Version of the log when all rows were last tested and sorted. */
  #filledAt = -1;
  #acquired: readonly Column[] = [];
  #sortColumns: readonly Column[] = [];
  #test: RowTest | undefined;
  #order: RowOrder | undefined;
  #members = new RowSet();
  #rows: Int32Array = new Int32Array(0);

  constructor(columns: Columns, query: CompiledQuery) {
    this.columns = columns;
    this.query = query;
  }

  /** Number of matching objects. */
  get count(): number {
    return this.#members.count;
  }

  /** Rows in order; empty for an unordered query. Replaced, not overwritten. */
  get rows(): Int32Array {
    return this.#rows;
  }

  get members(): RowSet {
    return this.#members;
  }

  get order(): RowOrder {
    return this.#order!;
  }

  get seen(): number {
    return this.#seen;
  }

  get byteLength(): number {
    return this.#rows.byteLength + this.#members.byteLength;
  }

  /** @returns false when it was cancelled */
  *build(isCancelled: () => boolean): SlicedTask<boolean> {
    if (isCancelled()) return false;
    const { columns, query } = this;
    const { sort } = query;
    this.#seen = columns.log.closed;
    columns.log.follow(this);
    const sortPaths = sort?.map(({ path }) => path) ?? [];
    this.#acquired = yield* columns.acquire([...query.paths, ...sortPaths]);
    this.#sortColumns = this.#acquired.slice(query.paths.length);
    this.#test = new RowTest(query.plan, columns, this.#acquired);
    if (sort !== undefined)
      this.#order = new RowOrder(
        sort.map(({ descending }, i) => ({
          column: this.#sortColumns[i]!,
          descending,
        })),
        columns.ids,
      );
    if (!(yield* this.#fill(isCancelled))) return false;
    this.#test.finishFirstPass();
    yield* this.catchUp();
    return true;
  }

  /** Applies all changes. Until the next yield the rows are current. */
  *catchUp(): SlicedTask<void> {
    const { log } = this.columns;
    for (
      let limit = MAX_INCREMENTAL;
      log.version !== this.#version;
      limit *= 2
    ) {
      if (this.query.hasPatterns) yield* this.#testChanged(limit);
      const changed = this.#changed();
      if (changed.size > limit || this.#hasBulkChange) {
        const seen = log.closed;
        yield* this.#fill(() => false);
        this.#seen = seen;
      } else {
        this.#apply(changed);
        this.#seen = log.closed;
        this.#version = log.version;
      }
    }
  }

  close(): void {
    this.columns.log.unfollow(this);
    this.#test?.close();
    this.columns.release(this.#acquired);
    this.#acquired = [];
  }

  /** Whether a column had a change that was not recorded row by row. */
  get #hasBulkChange(): boolean {
    return this.#acquired.some(
      ({ bulkChangedAt }) => bulkChangedAt > this.#filledAt,
    );
  }

  get #rowsPerStep(): number {
    if (this.query.hasPatterns) return 1;
    return this.#test!.readsObjects ? OBJECT_STEP : STEP;
  }

  #changed(): Set<number> {
    const which = this.#test!.readsObjects ? "touched" : "of columns";
    return this.columns.log.rows(this.#acquired, this.#seen, which);
  }

  /**
   * Tests changed rows one per step. A term's result is kept per distinct value,
   * so that `apply`, which is one step, evaluates few regular expressions.
   */
  *#testChanged(limit: number): SlicedTask<void> {
    const tested = new Set<number>();
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      const changed = this.#changed();
      if (changed.size > limit) return;
      const due = [...changed].filter((row) => !tested.has(row));
      if (due.length <= MAX_UNTESTED) return;
      for (const row of due) {
        if (this.columns.table.isLive(row)) this.#test!.holds(row);
        tested.add(row);
        yield;
      }
    }
  }

  *#fill(isCancelled: () => boolean): SlicedTask<boolean> {
    const { table, log } = this.columns;
    const filledAt = log.version;
    const test = this.#test!;
    const step = this.#rowsPerStep;
    const members = new RowSet();
    const { ids } = this.query;
    const last = ids === undefined ? table.rows : ids.length;
    for (let i = 0; i < last; i++) {
      const row = ids === undefined ? i : table.findId(ids[i]!);
      if (row >= 0 && table.isLive(row) && test.holds(row)) members.add(row);
      if (i % step !== step - 1) continue;
      yield;
      if (isCancelled()) return false;
    }
    if (this.#order !== undefined)
      this.#rows = yield* this.#order.sort(members);
    this.#members = members;
    this.#filledAt = filledAt;
    return true;
  }

  #apply(changed: ReadonlySet<number>): void {
    const { log } = this.columns;
    const members = this.#members;
    const moved = log.rows(this.#sortColumns, this.#seen);
    const leaving = new Set<number>();
    const entering: number[] = [];
    for (const row of changed) {
      const was = members.has(row);
      const is = this.columns.table.isLive(row) && this.#test!.holds(row);
      if (was === is && (!was || !moved.has(row))) continue;
      if (was) leaving.add(row);
      if (is) entering.push(row);
      if (is) members.add(row);
      else members.delete(row);
    }
    if (this.#order === undefined) return;
    if (leaving.size + entering.length > 0)
      this.#rows = spliceRows(this.#rows, leaving, entering, this.#order);
  }
}
