import type {
  Catalog,
  Inventory,
  Predicate,
  Queries,
  Steps,
  ViewTable,
} from "@xo-server/inventory";
import type { SharedSubscription } from "./shared-subscription.js";
import { Fragments, type Fragment } from "./fragment.js";
import { loaded, missingObject, type Loading } from "./missing-object.js";
import { toSelection, type ObjectSelection } from "./object-selection.js";
import type { Readable } from "./readable.js";

export interface ListingRequest {
  /** In the filter language (docs/filters.md), or a pattern: an object whose properties are compared. */
  readonly filter?: string | object | undefined;
  /** Maximum number of objects. */
  readonly limit?: number | undefined;
  readonly readable: Readable;
  /** `members`: one JSON object, keyed by id. `lines`: one JSON object per line. */
  readonly format: "members" | "lines";
  /** The subscription of the client, which tracks the objects sent. */
  readonly subscription?: SharedSubscription | undefined;
}

/**
 * Lists objects of all classes as bytes of the catalog: none is encoded again, and
 * an object is parsed only if a filter or rights need its content. Which objects of a
 * few types match a filter is read from the columns of queries. The list is
 * produced in slices of the event loop, as fast as it is consumed.
 */
export class ObjectListing {
  readonly #catalog: Catalog;
  readonly #inventory: Pick<Inventory, "runInSlices">;
  readonly #queries: Pick<Queries, "ids">;
  readonly #loading: Loading;
  readonly #fragments = new Fragments();

  constructor(
    catalog: Catalog,
    inventory: Pick<Inventory, "runInSlices">,
    queries: Pick<Queries, "ids">,
    loading: Loading = loaded,
  ) {
    this.#catalog = catalog;
    this.#inventory = inventory;
    this.#queries = queries;
    this.#loading = loading;
  }

  /**
   * @throws XoError FILTER_INVALID, INVALID_PARAMETERS, and OBJECTS_LOADING for an id that is not known
   * yet, immediately
   */
  list(request: ListingRequest): AsyncIterable<Buffer> {
    const selection = toSelection(request.filter);
    const { id, type = "object" } = selection;
    if (id !== undefined) this.#assertIsKnown(type, id);
    return this.#parts(request, selection);
  }

  /** Does nothing for an object that does not exist. @throws XoError OBJECTS_LOADING */
  #assertIsKnown(type: string, id: string): void {
    const pool = this.#catalog.poolOf(id);
    if (pool !== undefined) this.#loading.noteFound(id, pool);
    else if (this.#loading.mayHave(id))
      throw missingObject(this.#loading, type, id);
  }

  /** Returns the buffer of a part that has been sent. */
  recycle(part: Buffer): void {
    this.#fragments.recycle(part);
  }

  async *#parts(
    request: ListingRequest,
    selection: ObjectSelection,
  ): AsyncGenerator<Buffer> {
    const isMembers = request.format === "members";
    if (isMembers) yield Buffer.from("{");
    // A pool that has been listed may not have all its rows in the tables yet.
    await this.#catalog.loaded();
    const writing = { left: request.limit ?? Infinity, isFirst: true };
    const listing = { request, selection, writing };
    for (const className of this.#classesOf(selection)) {
      if (writing.left <= 0) break;
      const table = await this.#catalog.follow(className);
      const ids = await this.#candidates(className, selection);
      const reader = new TableReader(table, listing, ids);
      while (!reader.isDone) {
        const fragment = this.#fragments.begin();
        await this.#inventory.runInSlices("listing", reader.fill(fragment));
        if (!fragment.isEmpty) yield fragment.finish();
        else this.#fragments.recycle(fragment.finish());
      }
    }
    if (isMembers) yield Buffer.from("}");
  }

  /** Ids of the objects of a class that can match; undefined: any. */
  async #candidates(
    className: string,
    selection: ObjectSelection,
  ): Promise<readonly string[] | undefined> {
    const { id, columns } = selection;
    if (id !== undefined) return [id];
    const types = this.#typesOf(selection);
    if (columns === undefined || types.length > MAX_QUERIED_TYPES)
      return undefined;
    const ofClass = types.filter(
      (type) => this.#catalog.classOf(type) === className,
    );
    const ids = ofClass.map((type) => this.#queries.ids({ type, ...columns }));
    return (await Promise.all(ids)).flat();
  }

  #classesOf(selection: ObjectSelection): ReadonlySet<string> {
    const types = this.#typesOf(selection);
    const classes = types.map((one) => this.#catalog.classOf(one));
    return new Set(classes.filter((name) => name !== undefined));
  }

  #typesOf({ type, allowsType, id }: ObjectSelection): readonly string[] {
    const { types } = this.#catalog;
    if (type !== undefined) return [type];
    if (allowsType !== undefined) return types.filter(allowsType);
    if (id === undefined) return types;
    const found = this.#catalog.get(id);
    return found === undefined ? [] : [found.type];
  }
}

/** Number of skipped rows between two yields. A written row counts as several skipped ones. */
const STEP = 64;
const WRITTEN = 4;
/** Types of one list up to which columns are read: for all types, more objects would get columns than are listed. */
const MAX_QUERIED_TYPES = 4;
/**
 * Weight of a row that is tested by a filter: regular expressions may take
 * milliseconds for one object.
 */
const TESTED = STEP;

/** State that the tables of one listing share. */
interface Listing {
  readonly request: ListingRequest;
  readonly selection: ObjectSelection;
  readonly writing: { left: number; isFirst: boolean };
}

/**
 * Iterates over the rows of one table. Rows added or removed in the meantime may be included or
 * not.
 */
class TableReader {
  readonly #table: ViewTable;
  readonly #listing: Listing;
  /**
   * The type of the last object, and the conditions that objects of this type must
   * meet to be listed.
   */
  #type: string | undefined;
  #readable: Predicate | undefined;
  /** Ids of the objects that can match; undefined: any row. */
  readonly #ids: readonly string[] | undefined;
  /** The next row, or the index of the next id. */
  #next = 0;

  constructor(
    table: ViewTable,
    listing: Listing,
    ids: readonly string[] | undefined,
  ) {
    this.#table = table;
    this.#listing = listing;
    this.#ids = ids;
  }

  get isDone(): boolean {
    const { length } = this.#ids ?? { length: this.#table.rows };
    return this.#next >= length || this.#listing.writing.left <= 0;
  }

  *fill(fragment: Fragment): Steps {
    let work = 0;
    while (!this.isDone && !fragment.isFull) {
      const row = this.#nextRow();
      if (row >= 0 && this.#fits(row)) {
        this.#write(row, fragment);
        work += WRITTEN;
      } else work++;
      if (this.#listing.selection.test !== undefined) work += TESTED;
      if (work < STEP) continue;
      work = 0;
      yield;
    }
  }

  /** -1: the object with the next id has been removed. */
  #nextRow(): number {
    const next = this.#next++;
    return this.#ids === undefined
      ? next
      : this.#table.findId(this.#ids[next]!);
  }

  #fits(row: number): boolean {
    if (!this.#table.isLive(row)) return false;
    const type = this.#table.type(row);
    const requested = this.#listing.selection.type;
    if (requested !== undefined && requested !== type) return false;
    return this.#isReadable(row, type) && this.#isRequested(row);
  }

  #isReadable(row: number, type: string): boolean {
    const { readable } = this.#listing.request;
    // Consecutive rows are usually of the same type.
    if (type !== this.#type) {
      this.#type = type;
      this.#readable = readable(type);
    }
    const test = this.#readable;
    return test === undefined || this.#table.passes(row, test);
  }

  #isRequested(row: number): boolean {
    const { test } = this.#listing.selection;
    return test === undefined || this.#table.matches(row, test);
  }

  #write(row: number, fragment: Fragment): void {
    const { request, writing } = this.#listing;
    if (request.format === "members") {
      if (!writing.isFirst) fragment.addComma();
      fragment.addKey(this.#table, row);
      if (request.subscription?.tracksSent === true)
        request.subscription.noteSent(
          this.#table.type(row),
          this.#table.id(row),
        );
    }
    fragment.addBytes(this.#table.json(row));
    if (request.format === "lines") fragment.addText("\n");
    writing.isFirst = false;
    writing.left--;
  }
}
