import type { Columns } from "./columns.js";
import type { Column } from "./column.js";

/**
 * Bounds the memory of columns of all classes: the least recently used ones
 * without users are dropped.
 */
export class ColumnBudget {
  readonly limitBytes: number;
  readonly #all = new Set<Columns>();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get byteLength(): number {
    let bytes = 0;
    for (const columns of this.#all) bytes += columns.byteLength;
    return bytes;
  }

  add(columns: Columns): void {
    this.#all.add(columns);
  }

  remove(columns: Columns): void {
    this.#all.delete(columns);
  }

  /** Drops unused columns until the bound is met. Columns in use may exceed it. */
  enforce(): void {
    let bytes = this.byteLength;
    while (bytes > this.limitBytes) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      bytes -= oldest.column.byteLength;
      oldest.columns.drop(oldest.column);
    }
  }

  #oldest() {
    let oldest: { columns: Columns; column: Column } | undefined;
    for (const columns of this.#all) {
      const column = columns.oldestUnused;
      if (column === undefined) continue;
      if (oldest === undefined || column.lastUse < oldest.column.lastUse)
        oldest = { columns, column };
    }
    return oldest;
  }
}
