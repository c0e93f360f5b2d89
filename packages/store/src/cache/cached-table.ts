import { XoError } from "@xo-server/model";
import type { Kysely } from "kysely";
import type { Change, ChangeTarget, WriteUnit } from "../commit/write-unit.js";
import { limits } from "../schema/limits.js";
import type { Tables, Value } from "../schema/tables.js";
import { RowSet, type IndexKeys } from "./row-set.js";

/** Tables whose rows have a string `id`. */
type KeyedTable = {
  [Name in keyof Tables]: Tables[Name] extends { id: string } ? Name : never;
}[keyof Tables];

/** Row and table types for Kysely where the table is generic. */
type AnyRow = Record<string, Value> & { id: string };
type AnyTable = Kysely<{ keyed: AnyRow }>;

const PAGE_ROWS = 500;

/**
 * A small table with a copy in memory. Reads use memory only: they are synchronous
 * and work without a database. Changes go through a write unit; the copy is
 * updated after the commit.
 */
export class CachedTable<
  Name extends KeyedTable,
  Key extends string = never,
  Row extends Tables[Name] & { id: string } = Tables[Name] & { id: string },
> implements ChangeTarget {
  readonly name: Name;
  /** The name, typed for AnyTable. */
  readonly #table: "keyed";
  /** Name of a row in errors. */
  readonly #type: string;
  readonly #keys: IndexKeys<Row, Key>;
  #rows: RowSet<Row, Key>;
  /** Version counter of the table at the last update of the copy. */
  #version = -1;

  constructor(name: Name, type: string, keys: IndexKeys<Row, Key>) {
    this.name = name;
    this.#table = name as unknown as "keyed";
    this.#type = type;
    this.#keys = keys;
    this.#rows = new RowSet(keys);
  }

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  require(id: string): Row {
    return this.get(id) ?? this.#throwMissing(id);
  }

  values(): IterableIterator<Row> {
    return this.#rows.values();
  }

  withKey(key: Key, value: string): ReadonlySet<Row> {
    return this.#rows.withKey(key, value);
  }

  /** @throws XoError ALREADY_EXISTS, LIMIT_REACHED, NO_SUCH_OBJECT for a missing referenced row */
  async insert(unit: WriteUnit, row: Row): Promise<Row> {
    if (this.size >= limits.cachedRows)
      throw new XoError("LIMIT_REACHED", {
        limit: limits.cachedRows,
        what: this.name,
      });
    try {
      await anyTable(unit.sql)
        .insertInto(this.#table)
        .values(row as unknown as AnyRow)
        .execute();
    } catch (error) {
      throw unit.toStoreError(error, this.#type, row.id);
    }
    unit.addChange({ target: this, id: row.id, row });
    return row;
  }

  /** @throws XoError NO_SUCH_OBJECT, ALREADY_EXISTS */
  async update(
    unit: WriteUnit,
    id: string,
    columns: Partial<Row>,
  ): Promise<Row> {
    let row: Row | undefined;
    try {
      row = (await anyTable(unit.sql)
        .updateTable(this.#table)
        .set(columns as Partial<AnyRow>)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst()) as Row | undefined;
    } catch (error) {
      throw unit.toStoreError(error, this.#type, id);
    }
    if (row === undefined) return this.#throwMissing(id);
    unit.addChange({ target: this, id, row });
    return row;
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async remove(unit: WriteUnit, id: string): Promise<void> {
    if ((await this.removeWhere(unit, "id", id)) === 0) this.#throwMissing(id);
  }

  /** @returns number of deleted rows */
  async removeWhere(
    unit: WriteUnit,
    column: keyof Row & string,
    value: string,
  ): Promise<number> {
    // Rows may have been deleted by a foreign key: other processes must reload in any case.
    unit.touch(this);
    const deleted = await anyTable(unit.sql)
      .deleteFrom(this.#table)
      .where(column as "id", "=", value)
      .returning("id")
      .execute();
    for (const { id } of deleted)
      unit.addChange({ target: this, id, row: undefined });
    return deleted.length;
  }

  commit(changes: readonly Change[], version: number): boolean {
    if (version !== this.#version + 1) return false;
    this.#version = version;
    for (const { id, row } of changes)
      if (row === undefined) this.#rows.delete(id);
      else this.#rows.put(row as Row);
    return true;
  }

  /** Reloads the whole table, page by page, and replaces the copy at the end. */
  async load(db: Kysely<Tables>): Promise<void> {
    const version = await db
      .selectFrom("table_versions")
      .select("version")
      .where("id", "=", this.name)
      .executeTakeFirst();
    const rows = new RowSet(this.#keys);
    for (let after: string | undefined = ""; after !== undefined;)
      after = await this.#loadPage(db, rows, after);
    this.#rows = rows;
    this.#version = version?.version ?? 0;
  }

  async #loadPage(
    db: Kysely<Tables>,
    rows: RowSet<Row, Key>,
    after: string,
  ): Promise<string | undefined> {
    const page = (await anyTable(db)
      .selectFrom(this.#table)
      .selectAll()
      .where("id", ">", after)
      .orderBy("id")
      .limit(PAGE_ROWS)
      .execute()) as unknown as Row[];
    for (const row of page) rows.put(row);
    return page.length < PAGE_ROWS ? undefined : page.at(-1)!.id;
  }

  #throwMissing(id: string): never {
    throw new XoError("NO_SUCH_OBJECT", { type: this.#type, id });
  }
}

function anyTable(db: Kysely<Tables>): AnyTable {
  return db as unknown as AnyTable;
}
