import type { Column } from "./column.js";
import { MISSING } from "./dictionary.js";
import { metricOf, metricSteps } from "./metrics.js";
import { NumberColumn } from "./number-column.js";
import { ValueColumn } from "./value-column.js";
import type { SlicedTask } from "./sliced-task.js";

/** Number of integers, and of JSON values, written between two yields. */
const NUMBER_STEP = 1_024;
const VALUE_STEP = 64;

/** Marks a missing value; all others are integers from 0. */
const UNKNOWN = -1;
const MAX_VALUE = 2 ** 31 - 1;

/**
 * A copy of a column's values of some rows, each as of the time when the row
 * was added. Dictionary codes stay valid until it is closed.
 */
export interface ColumnCopy {
  /** `changedAt` of the column before the first row was added. */
  readonly changedAt: number;
  add(row: number): void;
  /** @param push called with pieces of the JSON in order */
  write(push: (json: string) => void): SlicedTask<void>;
  close(): void;
}

/** @param maxRows capacity */
export function copyColumn(column: Column, maxRows: number): ColumnCopy {
  if (column instanceof ValueColumn) return new ValueCopy(column, maxRows);
  if (column instanceof NumberColumn) return new NumberCopy(column, maxRows);
  throw new TypeError("a column of another kind");
}

class NumberCopy implements ColumnCopy {
  readonly #column: NumberColumn;
  readonly #step: number;
  readonly #numbers: Int32Array;
  #count = 0;
  readonly changedAt: number;

  constructor(column: NumberColumn, most: number) {
    this.#column = column;
    this.#step = metricSteps[metricOf(column.path)]!;
    this.#numbers = new Int32Array(most);
    this.changedAt = column.changedAt;
  }

  add(row: number): void {
    const steps = Math.round(this.#column.value(row) / this.#step);
    this.#numbers[this.#count++] = Number.isNaN(steps)
      ? UNKNOWN
      : Math.min(Math.max(steps, 0), MAX_VALUE);
  }

  *write(push: (json: string) => void): SlicedTask<void> {
    push(`{"step":${this.#step},"values":[`);
    yield* writeNumbers(this.#numbers.subarray(0, this.#count), push);
    push("]}");
  }

  close(): void {
    // Nothing to release.
  }
}

class ValueCopy implements ColumnCopy {
  readonly #column: ValueColumn;
  readonly #codes: Int32Array;
  #count = 0;
  readonly changedAt: number;

  constructor(column: ValueColumn, most: number) {
    this.#column = column;
    this.#codes = new Int32Array(most);
    this.changedAt = column.changedAt;
    column.dictionary.hold();
  }

  add(row: number): void {
    this.#codes[this.#count++] = this.#column.code(row);
  }

  /**
   * With indexes into the distinct values when values occur at least twice on
   * average.
   */
  *write(push: (json: string) => void): SlicedTask<void> {
    const codes = this.#codes.subarray(0, this.#count);
    const { indexes, distinct } = yield* this.#index(codes);
    const isCoded = 2 * distinct.length <= codes.length;
    push('{"values":[');
    yield* this.#writeValues(isCoded ? distinct : codes, push);
    push("]");
    if (isCoded) {
      push(',"indexes":[');
      yield* writeNumbers(indexes, push);
      push("]");
    }
    push("}");
  }

  close(): void {
    this.#column.dictionary.unhold();
  }

  /** Distinct codes, and the index of each row's code among them. */
  *#index(codes: Int32Array): SlicedTask<{
    readonly indexes: Int32Array;
    readonly distinct: Int32Array;
  }> {
    const indexOf = new Int32Array(this.#column.dictionary.codes).fill(-1);
    const indexes = new Int32Array(codes.length);
    const distinct = new Int32Array(Math.min(codes.length, indexOf.length));
    let count = 0;
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i]!;
      if (indexOf[code] === -1) {
        indexOf[code] = count;
        distinct[count++] = code;
      }
      indexes[i] = indexOf[code]!;
      if (i % NUMBER_STEP === NUMBER_STEP - 1) yield;
    }
    return { indexes, distinct: distinct.subarray(0, count) };
  }

  *#writeValues(
    codes: Int32Array,
    push: (json: string) => void,
  ): SlicedTask<void> {
    const { dictionary } = this.#column;
    for (let from = 0; from < codes.length; from += VALUE_STEP) {
      const some = codes.subarray(from, from + VALUE_STEP);
      push(
        (from > 0 ? "," : "") +
          Array.from(some, (code) =>
            code === MISSING
              ? "null"
              : JSON.stringify(dictionary.valueOf(code)),
          ).join(","),
      );
      yield;
    }
  }
}

function* writeNumbers(
  numbers: Int32Array,
  push: (json: string) => void,
): SlicedTask<void> {
  for (let from = 0; from < numbers.length; from += NUMBER_STEP) {
    const some = numbers.subarray(from, from + NUMBER_STEP);
    let json = from > 0 ? "," : "";
    for (let i = 0; i < some.length; i++) {
      if (i > 0) json += ",";
      json += some[i] === UNKNOWN ? "null" : some[i]!;
    }
    push(json);
    yield;
  }
}
