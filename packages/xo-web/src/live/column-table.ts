import { isObject, type Json } from "@xo-server/kit";

type Values = readonly (string | number | boolean | null)[];

/** Some properties of very many objects, by columns: what the answers to `query.columns` add up to. */
export class ColumnTable {
  /** For `known` of the next question; undefined: everything is to be told. */
  state: string | undefined;
  /** Number of objects that match, told or not. */
  total = 0;
  ids: readonly string[] = [];
  /** Rises when the objects are others, or stand in another order. */
  membership = 0;
  readonly #values = new Map<string, Values>();
  readonly #numbers = new Map<string, Float64Array>();
  /** By path, how often it was told. */
  readonly #told = new Map<string, number>();

  get length(): number {
    return this.ids.length;
  }

  /** @returns something differs */
  take(answer: Json): boolean {
    if (!isObject(answer)) return false;
    const { state, total, ids, columns } = answer;
    this.state = typeof state === "string" ? state : undefined;
    const before = this.total;
    this.total = typeof total === "number" ? total : 0;
    if (Array.isArray(ids)) {
      this.ids = ids as string[];
      this.membership++;
    }
    const told = isObject(columns) ? Object.entries(columns) : [];
    for (const [path, column] of told) this.#take(path, column);
    return Array.isArray(ids) || told.length > 0 || before !== this.total;
  }

  /** Texts, numbers, or null where an object has none; by the place of its id. */
  values(path: string): Values {
    return this.#values.get(path) ?? [];
  }

  /** NaN where an object has none. */
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

  /** Differs when the objects or one of these columns do. */
  stampOf(paths: readonly string[]): string {
    const told = paths.map((path) => this.#told.get(path) ?? 0);
    return [this.membership, ...told].join(" ");
  }

  #take(path: string, column: Json): void {
    if (!isObject(column) || !Array.isArray(column["values"])) return;
    this.#told.set(path, (this.#told.get(path) ?? 0) + 1);
    const { indexes, step } = column;
    const values = column["values"] as Values;
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
