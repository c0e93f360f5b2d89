import type { Logger } from "@xo-server/kit";
import type { ViewTable } from "../catalog/catalog.js";
import type { ColumnBudget } from "./column-budget.js";
import { Columns } from "./columns.js";
import { Projection } from "./projection.js";
import type { SharedResult } from "./shared-result.js";
import { toPath, type ValuePath } from "./value-path.js";
import type { SlicedTask } from "./sliced-task.js";

export interface ClassIndexOptions {
  readonly table: ViewTable;
  /** Paths that are kept ready, besides the type. */
  readonly columns: readonly string[];
  readonly budget: ColumnBudget;
  readonly logger: Pick<Logger, "error">;
}

/** All that is known of one class for questions: its columns, the results that are kept, and the fields that are read. */
export class ClassIndex {
  readonly table: ViewTable;
  readonly columns: Columns;
  /** By the question's key. */
  readonly results = new Map<string, SharedResult>();
  readonly #options: ClassIndexOptions;
  readonly #readyPaths: readonly ValuePath[];
  readonly #projections = new Map<string, Projection>();
  readonly #unobserve: () => void;
  #isUpdating = false;
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
    this.#readyPaths = ["type", ...options.columns].map(toPath);
    this.columns.maintain(this.#readyPaths);
    this.#unobserve = table.observe(this.columns);
    budget.add(this.columns);
  }

  /** Makes the columns that are to be ready; those of rows that were not told. */
  async begin(): Promise<void> {
    await this.table.run(this.#fillColumns());
  }

  /** Of these fields; to be given back to `releaseProjection`. */
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

  stop(): void {
    this.#isStopped = true;
    this.#unobserve();
    this.#options.budget.remove(this.columns);
    for (const shared of this.results.values()) shared.close();
    this.results.clear();
  }

  *#fillColumns(): SlicedTask<void> {
    yield* this.columns.begin();
    this.columns.release(yield* this.columns.acquire(this.#readyPaths));
    this.#options.budget.enforce();
  }

  #schedule(): void {
    if (this.#isUpdating || this.#isStopped || this.results.size === 0) return;
    this.#isUpdating = true;
    this.table.run(this.#update()).catch((error: unknown) => {
      this.#options.logger.error("live queries could not be updated", {
        error,
      });
    });
  }

  *#update(): Generator<void, void, void> {
    const { log } = this.columns;
    let done = -1;
    try {
      // Frames that came meanwhile too.
      while (done !== log.closed) {
        done = log.closed;
        for (const shared of [...this.results.values()]) {
          yield* this.#updateResult(shared);
          yield;
        }
      }
    } finally {
      this.#isUpdating = false;
    }
  }

  /** One that fails disturbs no other. */
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
