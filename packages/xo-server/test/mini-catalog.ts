import {
  canonicalJson,
  readerOf,
  type Catalog,
  type CatalogEntry,
  type ObjectReader,
  type Predicate,
  type RowObserver,
  type Steps,
  type ViewObject,
  type ViewTable,
} from "@xo-server/inventory";

export interface MiniObject extends ViewObject {
  readonly id: string;
  readonly type: string;
  /** The inventory's name for its pool; `p` where it has none. */
  readonly pool?: string;
}

/** Objects of some types in memory: as much of a catalog as queries need. */
export class MiniCatalog {
  readonly #tables: ReadonlyMap<string, MiniTable>;
  #revision = 0;

  constructor(...types: readonly string[]) {
    this.#tables = new Map(types.map((type) => [type, new MiniTable(type)]));
  }

  /** In one window. */
  put(...objects: readonly MiniObject[]): void {
    for (const one of objects) this.#tableOf(one.type).put(one);
    this.#flush();
  }

  remove(...ids: readonly string[]): void {
    for (const id of ids)
      for (const table of this.#tables.values()) table.remove(id);
    this.#flush();
  }

  /** A class has several types: those of snapshots begin with that of what they are of. */
  #tableOf(type: string): MiniTable {
    return this.#tables.get(type) ?? this.#tables.get(type.split("-")[0]!)!;
  }

  get catalog(): Catalog {
    const tables = this.#tables;
    const revision = () => this.#revision;
    const catalog = {
      get tables() {
        return new Map(
          Array.from(tables, ([name, table]) => [name, table.view]),
        );
      },
      classOf: (type: string) => (tables.has(type) ? type : undefined),
      follow: async (type: string) => tables.get(type)!.view,
      settled: async () => undefined,
      get: (id: string) => this.#get(id),
      poolOf: (id: string) => this.#get(id)?.pool,
      feed: {
        get revision() {
          return revision();
        },
      },
    };
    return catalog as unknown as Catalog;
  }

  #get(id: string): CatalogEntry | undefined {
    for (const table of this.#tables.values()) {
      const object = table.find(id);
      if (object === undefined) continue;
      const { pool = "p", type } = object;
      return { id, type, pool, json: toJson(object) };
    }
    return undefined;
  }

  #flush(): void {
    this.#revision++;
    for (const table of this.#tables.values()) table.flush();
  }
}

class MiniTable {
  readonly #className: string;
  readonly #objects: (MiniObject | undefined)[] = [];
  readonly #rowOf = new Map<string, number>();
  readonly #observers = new Set<RowObserver>();
  #lane: Promise<void> = Promise.resolve();

  constructor(className: string) {
    this.#className = className;
  }

  find(id: string): MiniObject | undefined {
    return this.#objects[this.#rowOf.get(id) ?? -1];
  }

  put(object: MiniObject): void {
    const row = this.#rowOf.get(object.id) ?? this.#objects.length;
    this.#rowOf.set(object.id, row);
    this.#objects[row] = object;
    for (const one of this.#observers) one.rowSet(row, readerOf(object));
  }

  remove(id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    for (const one of this.#observers) one.rowRemoved(row);
    this.#rowOf.delete(id);
    this.#objects[row] = undefined;
  }

  flush(): void {
    for (const one of this.#observers) one.flushed();
  }

  get view(): ViewTable {
    const objects = this.#objects;
    const at = (row: number) => objects[row]!;
    const view = {
      className: this.#className,
      get rows() {
        return objects.length;
      },
      isLive: (row: number) => objects[row] !== undefined,
      id: (row: number) => at(row).id,
      // Readers take the id as a text.
      writeId: () => 0,
      type: (row: number) => at(row).type,
      pool: (row: number) => at(row).pool ?? "p",
      findId: (id: string) => this.#rowOf.get(id) ?? -1,
      json: (row: number) => toJson(at(row)),
      members: () => undefined,
      object: at,
      readRow: (row: number, visit: (object: ObjectReader) => void) => {
        visit(readerOf(at(row)));
      },
      passes: (row: number, test: Predicate) => test(at(row)),
      matches: (row: number, test: Predicate) => test(at(row)),
      observe: (observer: RowObserver) => {
        this.#observers.add(observer);
        return () => this.#observers.delete(observer);
      },
      run: (steps: Steps) => this.#run(steps),
    };
    return view as unknown as ViewTable;
  }

  #run(steps: Steps): Promise<void> {
    const done = this.#lane.then(() => {
      while (steps.next().done !== true);
    });
    this.#lane = done.catch(() => undefined);
    return done;
  }
}

function toJson(object: MiniObject): Buffer {
  return Buffer.from(canonicalJson(object));
}
