import type { Logger } from "@xo-server/kit";
import type { ViewTable } from "../catalog/catalog.js";
import type { ColumnBudget } from "./column-budget.js";
import { Columns } from "./columns.js";
import { Projection } from "./projection.js";
import type { SharedResult } from "./shared-result.js";
import type { ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

/**
 * Columns that are filled while rows are added: almost every query reads them.
 * Others are filled when a query needs them.
 */
const ALWAYS: readonly ValuePath[] = [["type"], ["name_label"]];

interface ClassIndexOptions {
  readonly table: ViewTable;
  readonly budget: ColumnBudget;
  readonly logger: Pick<Logger, "error">;
}

/**
 * Index of one class for queries: its columns, the cached results, and the
 * projections in use.
 */
export class ClassIndex {
  readonly table: ViewTable;
  readonly columns: Columns;
  /** By CompiledQuery.key. */
  readonly results = new Map<string, SharedResult>();
  readonly #options: ClassIndexOptions;
  readonly #projections = new Map<string, Projection>();
  readonly #unobserve: () => void;
  #isUpdating = false;
  /** Frame of the change log that the last update began with. */
  #updatedTo = 0;
  #isStopped = false;

  constructor(options: ClassIndexOptions) {
    const { table, budget } = options;
    this.#options = options;
    this.table = table;
    this.columns = new Columns(table, {
      onRow: (row) => {
        for (const one of this.#projections.values()) one.invalidate(row);
      },
      onMetrics: (rows) => {
        for (const one of this.#projections.values())
          one.invalidateMetrics(rows);
      },
      onFlush: () => {
        this.#schedule();
      },
    });
    this.columns.maintain(ALWAYS);
    this.#unobserve = table.observe(this.columns);
    budget.add(this.columns);
  }

  /**
   * Fills the first columns; to be called once. Rows that are set
   * meanwhile are included by the observer.
   */
  async begin(): Promise<void> {
    await this.table.run(this.#fillColumns());
  }

  /**
   * Returns the shared projection of these fields; it must be returned to
   * `releaseProjection`.
   */
  acquireProjection(fields: readonly string[] | undefined): Projection {
    const key = Projection.keyOf(fields);
    const projection =
      this.#projections.get(key) ?? new Projection(this.columns, fields);
    this.#projections.set(key, projection);
    projection.users++;
    return projection;
  }

  releaseProjection(projection: Projection): void {
    if (--projection.users === 0) this.#projections.delete(projection.key);
  }

  /**
   * Fills columns that a query will probably need, while there is no other work. The
   * budget may drop them again.
   */
  prepare(paths: readonly ValuePath[]): Promise<void> {
    const steps = this.#prepare(paths);
    return this.table.run(steps, "prepared columns", "background");
  }

  *#prepare(paths: readonly ValuePath[]): SlicedTask<void> {
    const filling = this.columns.acquire(paths);
    for (;;) {
      if (this.#isStopped) return;
      const step = filling.next();
      if (step.done === true) {
        this.columns.release(step.value);
        break;
      }
      yield;
    }
    this.#options.budget.enforce();
  }

  stop(): void {
    this.#isStopped = true;
    this.#unobserve();
    this.#options.budget.remove(this.columns);
    for (const shared of this.results.values()) shared.close();
    this.results.clear();
  }

  *#fillColumns(): SlicedTask<void> {
    yield* this.columns.begin();
    this.columns.release(yield* this.columns.acquire(ALWAYS));
    this.#options.budget.enforce();
  }

  #schedule(): void {
    if (this.#isUpdating || this.#isStopped || this.results.size === 0) return;
    this.#isUpdating = true;
    this.table
      .run(this.#update())
      .catch((error: unknown) => {
        this.#options.logger.error("live queries could not be updated", {
          error,
        });
      })
      .finally(() => {
        this.#isUpdating = false;
        // A separate task, so that other tasks of the table get their turn even if
        // it changes very often.
        if (this.columns.log.closed !== this.#updatedTo) this.#schedule();
      });
  }

  *#update(): Generator<void, void, void> {
    this.#updatedTo = this.columns.log.closed;
    for (const shared of [...this.results.values()]) {
      yield* this.#updateResult(shared);
      yield;
    }
  }

  /** An error of one result is logged and does not affect others. */
  *#updateResult(shared: SharedResult): SlicedTask<void> {
    if (shared.isClosed) return;
    try {
      yield* shared.update();
    } catch (error) {
      this.#options.logger.error("a live query could not be updated", {
        question: shared.result.query.key,
        error,
      });
    }
  }
}
