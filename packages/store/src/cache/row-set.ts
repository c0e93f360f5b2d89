/** Lookup keys of a table in addition to its id; `undefined`: the row is not in that index. */
export type IndexKeys<Row, Key extends string> = Readonly<
  Record<Key, (row: Row) => string | undefined>
>;

/** Rows indexed by id and by other keys. */
export class RowSet<Row extends { readonly id: string }, Key extends string> {
  readonly #rows = new Map<string, Row>();
  readonly #indexes: readonly Index<Row>[];
  readonly #byKey: ReadonlyMap<string, Index<Row>>;

  constructor(keys: IndexKeys<Row, Key>) {
    this.#byKey = new Map(
      Object.keys(keys).map((key) => [key, new Index(keys[key as Key])]),
    );
    this.#indexes = [...this.#byKey.values()];
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  withKey(key: Key, value: string): ReadonlySet<Row> {
    return this.#byKey.get(key)!.get(value);
  }

  put(row: Row): void {
    this.delete(row.id);
    this.#rows.set(row.id, row);
    for (const index of this.#indexes) index.add(row);
  }

  delete(id: string): void {
    const row = this.#rows.get(id);
    if (row === undefined) return;
    this.#rows.delete(id);
    for (const index of this.#indexes) index.delete(row);
  }
}

class Index<Row> {
  readonly #keyOf: (row: Row) => string | undefined;
  readonly #rows = new Map<string, Set<Row>>();

  constructor(keyOf: (row: Row) => string | undefined) {
    this.#keyOf = keyOf;
  }

  get(value: string): ReadonlySet<Row> {
    return this.#rows.get(value) ?? NONE;
  }

  add(row: Row): void {
    const value = this.#keyOf(row);
    if (value === undefined) return;
    const rows = this.#rows.get(value);
    if (rows === undefined) this.#rows.set(value, new Set([row]));
    else rows.add(row);
  }

  delete(row: Row): void {
    const value = this.#keyOf(row);
    if (value === undefined) return;
    const rows = this.#rows.get(value);
    rows?.delete(row);
    if (rows?.size === 0) this.#rows.delete(value);
  }
}

const NONE: ReadonlySet<never> = new Set<never>();
