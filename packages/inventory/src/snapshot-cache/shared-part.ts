import type { Steps } from "../slicer/slicer.js";
import type { ClassTable } from "../store/class-table.js";
import type { SharedRows } from "../store/shared-rows.js";

/** Rows `from` to `to` of a table, to be written by a thread. */
export class SharedPart {
  readonly #table: ClassTable;
  readonly from: number;
  readonly #to: number;
  /** Set by `copy`. */
  rows: SharedRows | undefined;

  constructor(table: ClassTable, from: number, to: number) {
    this.#table = table;
    this.from = from;
    this.#to = to;
  }

  /** One step, in the pool's lane: no change of the pool is half applied. */
  *copy(): Steps {
    this.rows = this.#table.copyShared(this.from, this.#to);
    yield;
  }
}
