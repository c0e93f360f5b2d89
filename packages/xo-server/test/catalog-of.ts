import {
  compileFilter,
  createObjectFilter,
  parseFilter,
  type Catalog,
  type FeedReader,
  type Frame,
  type Inventory,
  type Predicate,
  type Priority,
  type Queries,
  type Selection,
  type Steps,
  type ViewChange,
  type ViewObject,
  type ViewTable,
} from "@xo-server/inventory";

export interface Thing extends ViewObject {
  readonly id: string;
  readonly type: string;
}

/** A catalog in memory: one class a type, rows in the order in which they were added. */
export class FakeCatalog {
  readonly followed: string[] = [];
  /** Priorities of the calls of `follow`. */
  readonly priorities: (Priority | undefined)[] = [];
  readonly #things: (Thing | undefined)[];
  readonly #loading: Thing[] = [];
  #frames: Frame[] = [];
  readonly #listeners = new Map<(frame: Frame) => void, FeedReader>();
  #revision = 0;
  /** Rows whose object was compared with a filter. */
  compared = 0;
  /** Frames up to this revision have been evicted. */
  evicted = 0;
  /** Steps that runInSlices has done. */
  steps = 0;

  constructor(things: readonly (Thing | undefined)[] = []) {
    this.#things = [...things];
  }

  get catalog(): Catalog {
    return this as unknown as Catalog;
  }

  get inventory(): Pick<Inventory, "runInSlices"> {
    return {
      runInSlices: async (_lane: string, steps: Steps) => {
        await Promise.resolve();
        while (steps.next().done !== true) this.steps++;
      },
    };
  }

  get queries(): Pick<Queries, "ids"> {
    return {
      ids: async ({ type, filter = "", pattern = {} }: Selection) => {
        await Promise.resolve();
        const tests = [
          compileFilter(parseFilter(filter)),
          createObjectFilter(pattern),
        ];
        return this.#things
          .filter((thing) => thing !== undefined)
          .filter(
            (thing) =>
              thing.type === type && tests.every((test) => test(thing)),
          )
          .map(({ id }) => id);
      },
    };
  }

  get types(): readonly string[] {
    return ["VM", "VM-template", "host", "SR"];
  }

  classOf(type: string): string | undefined {
    return this.types.includes(type) ? type.replace(/-.*/, "") : undefined;
  }

  /** Adds an object of a pool that has been listed, when it is waited for. */
  addWhenLoaded(thing: Thing): void {
    this.#loading.push(thing);
  }

  async loaded(): Promise<void> {
    await Promise.resolve();
    this.#things.push(...this.#loading.splice(0));
  }

  async follow(
    className: string,
    _onBegin?: unknown,
    priority?: Priority,
  ): Promise<ViewTable> {
    this.followed.push(className);
    this.priorities.push(priority);
    const rows = this.#things.map((thing) =>
      thing !== undefined && this.classOf(thing.type) === className
        ? thing
        : undefined,
    );
    return {
      rows: rows.length,
      isLive: (row: number) => rows[row] !== undefined,
      id: (row: number) => rows[row]!.id,
      type: (row: number) => rows[row]!.type,
      json: (row: number) => toJson(rows[row]!),
      object: (row: number) => rows[row],
      writeId: () => 0,
      passes: (row: number, test: Predicate) => test(rows[row]),
      matches: (row: number, test: Predicate) => {
        this.compared++;
        return test(rows[row]);
      },
      findId: (id: string) => rows.findIndex((thing) => thing?.id === id),
    } as unknown as ViewTable;
  }

  get(id: string): Thing | undefined {
    return this.#things.find((thing) => thing?.id === id);
  }

  poolOf(id: string): string | undefined {
    return this.get(id) && "p";
  }

  readonly feed = this.#feed();

  #feed() {
    const revision = () => this.#revision;
    return {
      feedId: "e",
      get revision() {
        return revision();
      },
      since: ({ revision }: { revision: number }) =>
        revision < this.evicted
          ? "resync"
          : this.#frames.filter(({ last }) => last > revision),
      subscribe: (
        listener: (frame: Frame) => void,
        reader: FeedReader = {},
      ) => {
        this.#listeners.set(listener, reader);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  /** Number of frames that are retained for subscribers that have not read them. */
  get retained(): number {
    return this.#frames.length;
  }

  /** Content of a window: objects that exist now, and ids of deleted ones. */
  bring(...things: (Thing | { readonly gone: string; type: string })[]): void {
    const changes = things.map((thing): ViewChange => {
      const isGone = "gone" in thing;
      return {
        row: 0,
        id: String(isGone ? thing.gone : thing.id),
        type: thing.type,
        pool: "p",
        kind: isGone ? "remove" : "update",
        ...(isGone ? {} : { json: toJson(thing) }),
      };
    });
    const frame = new FakeFrame(this.#revision + 1, changes);
    this.#revision = frame.last;
    const read = [...this.#listeners.values()].map(
      ({ readRevision }) => readRevision?.() ?? 0,
    );
    this.#frames = this.#frames.filter(({ last }) => last > Math.min(...read));
    this.#frames.push(frame);
    for (const listener of this.#listeners.keys()) listener(frame);
  }
}

class FakeFrame implements Frame {
  readonly className = "VM";
  readonly summaries = new Map();
  readonly byteLength = 0;
  readonly first: number;
  readonly changes: readonly ViewChange[];
  readonly #encodings = new Map<string, Buffer>();

  constructor(first: number, changes: readonly ViewChange[]) {
    this.first = first;
    this.changes = changes;
  }

  get last(): number {
    return this.first + this.changes.length - 1;
  }

  encoded(encoding: string, encode: (frame: Frame) => Buffer): Buffer {
    const known = this.#encodings.get(encoding) ?? encode(this);
    this.#encodings.set(encoding, known);
    return known;
  }
}

function toJson(thing: Thing): Buffer {
  return Buffer.from(JSON.stringify(thing));
}
