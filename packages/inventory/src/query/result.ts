import type { Column } from "./column.js";
import type { LogFollower } from "./change-log.js";
import type { Columns } from "./columns.js";
import type { Question } from "./request.js";
import { RowOrder } from "./row-order.js";
import { RowSet } from "./row-set.js";
import { RowTest } from "./row-test.js";
import { spliceRows } from "./splice-rows.js";
import type { Work } from "./work.js";

/**
 * With more changed rows than these, all are tested and sorted anew, in slices:
 * those few take about two milliseconds. If as many change meanwhile, twice as many will do.
 */
const MOST_CHANGED = 512;

/** Rows that are tested between two yields, by columns and by whole objects. */
const STEP = 512;
const OBJECT_STEP = 8;

/**
 * The rows that answer a question, in its order. `build` makes it, `catchUp`
 * keeps it: it looks at changed rows only, and at those only where a column
 * changed that the question looks at.
 */
export class Result implements LogFollower {
  readonly columns: Columns;
  readonly question: Question;
  #seen = 0;
  #version = -1;
  /** Version of the log when the rows were last tested and sorted anew. */
  #filledAt = -1;
  #taken: readonly Column[] = [];
  #sortColumns: readonly Column[] = [];
  #test: RowTest | undefined;
  #order: RowOrder | undefined;
  #members = new RowSet();
  #rows: Int32Array = new Int32Array(0);

  constructor(columns: Columns, question: Question) {
    this.columns = columns;
    this.question = question;
  }

  /** Number of objects. */
  get count(): number {
    return this.#members.count;
  }

  /** In order; not kept for a question without one. Replaced, not written to. */
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

  /** @returns false when it was given up on the way */
  *build(isGivenUp: () => boolean): Work<boolean> {
    if (isGivenUp()) return false;
    const { columns, question } = this;
    const { sort } = question;
    this.#seen = columns.log.closed;
    columns.log.follow(this);
    const sortPaths = sort?.map(({ path }) => path) ?? [];
    this.#taken = yield* columns.take([...question.paths, ...sortPaths]);
    this.#sortColumns = this.#taken.slice(question.paths.length);
    this.#test = new RowTest(question.plan, columns, this.#taken);
    if (sort !== undefined)
      this.#order = new RowOrder(
        sort.map(({ descending }, i) => ({
          column: this.#sortColumns[i]!,
          descending,
        })),
        columns.ids,
      );
    if (!(yield* this.#fill(isGivenUp))) return false;
    this.#test.settle();
    yield* this.catchUp();
    return true;
  }

  /**
   * Takes in what has changed. After it, up to the next yield, the rows are those of now.
   */
  *catchUp(): Work<void> {
    const { log } = this.columns;
    for (let most = MOST_CHANGED; log.version !== this.#version; most *= 2) {
      const changed = this.#changed();
      if (changed.size > most || this.#isRenewed) {
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
    this.columns.release(this.#taken);
    this.#taken = [];
  }

  /** So much changed that it was not noted what. */
  get #isRenewed(): boolean {
    return this.#taken.some(({ renewedAt }) => renewedAt > this.#filledAt);
  }

  #changed(): Set<number> {
    const which = this.#test!.readsObjects ? "touched" : "of columns";
    return this.columns.log.rows(this.#taken, this.#seen, which);
  }

  *#fill(isGivenUp: () => boolean): Work<boolean> {
    const { table, log } = this.columns;
    const filledAt = log.version;
    const test = this.#test!;
    const step = test.readsObjects ? OBJECT_STEP : STEP;
    const members = new RowSet();
    const { ids } = this.question;
    const last = ids === undefined ? table.rows : ids.length;
    for (let i = 0; i < last; i++) {
      const row = ids === undefined ? i : table.findId(ids[i]!);
      if (row >= 0 && table.isLive(row) && test.holds(row)) members.add(row);
      if (i % step !== step - 1) continue;
      yield;
      if (isGivenUp()) return false;
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
