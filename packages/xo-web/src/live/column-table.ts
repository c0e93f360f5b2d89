import { isObject, type Json } from "@xo-server/kit";
import { plainName } from "../api/plain-name.js";

type Values = readonly (string | number | boolean | null)[];

/** A few properties of many objects, by column: the merged answers of `query.columns`. */
export class ColumnTable {
  /** `known` of the next request; undefined: the server sends all columns. */
  state: string | undefined;
  /** Number of matching objects. */
  total = 0;
  /** False: a pool is still being loaded, there may be more objects. */
  isComplete = true;
  ids: readonly string[] = [];
  /** Incremented when the objects or their order change. */
  membership = 0;
  readonly #values = new Map<string, Values>();
  readonly #numbers = new Map<string, Float64Array>();
  /** Number of updates, by path. */
  readonly #versions = new Map<string, number>();

  get length(): number {
    return this.ids.length;
  }

  /** @returns whether anything changed */
  take(answer: Json): boolean {
    if (!isObject(answer)) return false;
    const { state, total, ids, columns } = answer;
    this.state = typeof state === "string" ? state : undefined;
    const before = [this.total, this.isComplete].join();
    this.isComplete = answer["complete"] !== false;
    this.total = typeof total === "number" ? total : 0;
    if (Array.isArray(ids)) {
      this.ids = ids as string[];
      this.membership++;
    }
    const changed = isObject(columns) ? Object.entries(columns) : [];
    for (const [path, column] of changed) this.#take(path, column);
    const now = [this.total, this.isComplete].join();
    return Array.isArray(ids) || changed.length > 0 || before !== now;
  }

  /** Values in the order of `ids`; null: the object has no such property. */
  values(path: string): Values {
    return this.#values.get(path) ?? [];
  }

  /** Numbers in the order of `ids`; NaN: the object has no such property. */
  numbers(path: string): Float64Array {
    const known = this.#numbers.get(path);
    if (known !== undefined) return known;
    const values = this.values(path);
    const numbers = new Float64Array(this.length).fill(NaN);
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (typeof value === "number") numbers[i] = value;
    }
    this.#numbers.set(path, numbers);
    return numbers;
  }

  /** Changes with the objects and with these columns. */
  stampOf(paths: readonly string[]): string {
    const versions = paths.map((path) => this.#versions.get(path) ?? 0);
    return [this.membership, ...versions].join(" ");
  }

  #take(path: string, column: Json): void {
    if (!isObject(column) || !Array.isArray(column["values"])) return;
    this.#versions.set(path, (this.#versions.get(path) ?? 0) + 1);
    const { indexes, step } = column;
    const values = (column["values"] as Values).map((value) =>
      typeof value === "string" && path === "name_label"
        ? plainName(value)
        : value,
    );
    if (typeof step === "number") {
      this.#values.delete(path);
      this.#numbers.set(path, scaled(values, step));
      return;
    }
    this.#numbers.delete(path);
    this.#values.set(
      path,
      Array.isArray(indexes)
        ? (indexes as number[]).map((index) => values[index] ?? null)
        : values,
    );
  }
}

function scaled(steps: Values, step: number): Float64Array {
  const numbers = new Float64Array(steps.length);
  for (let i = 0; i < steps.length; i++) {
    const value = steps[i];
    numbers[i] = typeof value === "number" ? value * step : NaN;
  }
  return numbers;
}
