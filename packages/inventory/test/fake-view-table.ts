import {
  readerOf,
  type Catalog,
  type Digest,
  type ObjectReader,
  type Predicate,
  type RowObserver,
  type Steps,
  type ViewChange,
  type ViewObject,
  type ViewTable,
} from "@xo-server/inventory";

/** An object of the fake; it has at least these. */
export interface FakeObject extends ViewObject {
  readonly id: string;
  readonly type: string;
}

/** Rows in memory that the test changes, by the rules of ViewTable. */
export class FakeViewTable implements ViewTable {
  readonly className = "VM";
  /** Steps done in one turn of the event loop. */
  stepsPerTurn = Infinity;
  /** Called between turns, while work is under way. */
  betweenTurns: () => void = () => undefined;
  /** Objects read so far: what columns spare. */
  objectsRead = 0;
  feedRevision = 0;
  readonly #objects: (FakeObject | undefined)[] = [];
  readonly #json: (Buffer | undefined)[] = [];
  readonly #rowOf = new Map<string, number>();
  readonly #observers = new Set<RowObserver>();
  #free: number[] = [];
  /** Free at the end of the window. */
  #freed: number[] = [];
  /** What the rows were at the last flush. */
  readonly #before = new Map<number, FakeObject | undefined>();
  readonly #removed: ViewChange[] = [];
  #lane: Promise<void> = Promise.resolve();

  get rows(): number {
    return this.#objects.length;
  }

  get count(): number {
    return this.#rowOf.size;
  }

  get ids(): readonly string[] {
    return [...this.#rowOf.keys()];
  }

  get all(): readonly FakeObject[] {
    return this.#objects.filter((one) => one !== undefined);
  }

  put(object: FakeObject): void {
    const known = this.#rowOf.get(object.id);
    const row = known ?? this.#free.pop() ?? this.#objects.length;
    if (!this.#before.has(row)) this.#before.set(row, this.#objects[row]);
    this.#rowOf.set(object.id, row);
    this.#objects[row] = object;
    this.#json[row] = undefined;
    for (const one of this.#observers) one.rowSet(row, readerOf(object));
  }

  remove(id: string): void {
    const row = this.#rowOf.get(id);
    if (row === undefined) return;
    for (const one of this.#observers) one.rowRemoved(row);
    const type = this.type(row);
    this.#removed.push({ row, id, type, pool: "p", kind: "remove" });
    this.#before.delete(row);
    this.#objects[row] = undefined;
    this.#rowOf.delete(id);
    this.#freed.push(row);
  }

  /** A row is free at once, as in a window with a removal and an addition. */
  freeAtOnce(): void {
    this.#free.push(...this.#freed);
    this.#freed = [];
  }

  /** The end of a window. */
  flush(): void {
    const changes = [...this.#removed, ...this.#changes()];
    this.#removed.length = 0;
    this.#before.clear();
    this.freeAtOnce();
    if (changes.length === 0) return;
    this.feedRevision += changes.length;
    for (const one of this.#observers) one.flushed();
  }

  *#changes(): Iterable<ViewChange> {
    for (const [row, before] of this.#before) {
      const after = this.#objects[row];
      if (after === undefined) continue;
      const { id, type } = after;
      const about = { row, id, type, pool: "p", json: this.json(row) };
      if (before?.id !== id) yield { ...about, kind: "add" };
      else {
        const patch = patchBetween(before, after);
        const isKnown = patch !== undefined;
        yield {
          ...about,
          kind: "update",
          ...(isKnown ? { patch: Buffer.from(canonical(patch)) } : {}),
        };
      }
    }
  }

  isLive(row: number): boolean {
    return this.#objects[row] !== undefined;
  }

  id(row: number): string {
    return this.#objects[row]!.id;
  }

  type(row: number): string {
    return this.#objects[row]!.type;
  }

  pool(): string {
    return "p";
  }

  findId(id: string): number {
    return this.#rowOf.get(id) ?? -1;
  }

  revision(): number {
    return this.feedRevision;
  }

  json(row: number): Buffer {
    return (this.#json[row] ??= Buffer.from(canonical(this.#objects[row])));
  }

  object(row: number): ViewObject {
    this.objectsRead++;
    return this.#objects[row]!;
  }

  readRow(row: number, visit: (object: ObjectReader) => void): void {
    visit(readerOf(this.object(row)));
  }

  members(row: number, names: readonly string[]): ViewObject | undefined {
    if (this.#json[row] !== undefined) return undefined;
    const object = this.object(row);
    return Object.fromEntries(names.map((name) => [name, object[name]]));
  }

  writeId(): number {
    return 0;
  }

  passes(row: number, test: Predicate): boolean {
    return test(this.object(row));
  }

  matches(row: number, test: Predicate): boolean {
    return test(this.object(row));
  }

  summary(type: string) {
    const digest: Digest = { high: 0, low: 0 };
    const count = this.all.filter((one) => one.type === type).length;
    return { count, digest };
  }

  observe(observer: RowObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  get observers(): number {
    return this.#observers.size;
  }

  run(steps: Steps): Promise<void> {
    const done = this.#lane.then(() => this.#advance(steps));
    this.#lane = done.catch(() => undefined);
    return done;
  }

  async #advance(steps: Steps): Promise<void> {
    for (;;) {
      for (let i = 0; i < this.stepsPerTurn; i++)
        if (steps.next().done === true) return;
      this.betweenTurns();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** A catalog of one class, `VM`, with several types. */
export function createFakeCatalog(table: FakeViewTable): Catalog {
  const types = ["VM", "VM-template"];
  return {
    types,
    classOf: (type) => (types.includes(type) ? "VM" : undefined),
    follow: async () => table,
    tables: new Map([["VM", table]]),
    get: () => undefined,
    poolOf: () => undefined,
    settled: () => Promise.resolve(),
    loaded: () => Promise.resolve(),
    feed: {
      feedId: "fake",
      get revision() {
        return table.feedRevision;
      },
      since: () => "resync",
      subscribe: () => () => undefined,
    },
    stats: {
      classes: 1,
      objects: 0,
      tableBytes: 0,
      cache: { objects: 0, bytes: 0, limitBytes: 0, hits: 0, misses: 0 },
      feedBytes: 0,
      refreshed: 0,
      built: 0,
      unchanged: 0,
    },
    stop: () => undefined,
  };
}

/** JSON with keys in order, for flat and nested objects without odd keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(
          Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : member,
  );
}

/** RFC 7386; undefined where no patch can say it, because a null would be set. */
function patchBetween(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  for (const key of Object.keys(before)) if (!(key in after)) patch[key] = null;
  for (const [key, value] of Object.entries(after)) {
    const old = before[key];
    if (canonical(old) === canonical(value)) continue;
    if (value === null) return undefined;
    if (!isObject(value) || !isObject(old)) patch[key] = value;
    else {
      const inside = patchBetween(old, value);
      if (inside === undefined) return undefined;
      patch[key] = inside;
    }
  }
  return patch;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
