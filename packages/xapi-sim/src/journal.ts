import type { Row } from "./row.js";

/**
 * All rows in the order of their last change, so that "what changed since G"
 * costs what changed and not what is there.
 *
 *   oldest <-> ... <-> newest      modified rises from left to right
 */
export class Journal {
  #newest: Row | undefined;

  append(row: Row): void {
    row.older = this.#newest;
    row.newer = undefined;
    if (this.#newest !== undefined) this.#newest.newer = row;
    this.#newest = row;
  }

  remove(row: Row): void {
    if (row.newer !== undefined) row.newer.older = row.older;
    else if (this.#newest === row) this.#newest = row.older;
    if (row.older !== undefined) row.older.newer = row.newer;
    row.older = undefined;
    row.newer = undefined;
  }

  touch(row: Row): void {
    if (this.#newest === row) return;
    this.remove(row);
    this.append(row);
  }

  /** Rows changed after `generation`, newest first. */
  *since(generation: number): Generator<Row> {
    for (
      let row = this.#newest;
      row !== undefined && row.modified > generation;
      row = row.older
    )
      yield row;
  }
}
