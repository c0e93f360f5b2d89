import type {
  Catalog,
  Inventory,
  Predicate,
  Steps,
  ViewTable,
} from "@xo-server/inventory";
import type { Outlook } from "./outlook.js";
import { Fragment } from "./fragment.js";
import { toSelection, type ObjectSelection } from "./object-selection.js";
import type { Readable } from "./readable.js";

export interface ListingRequest {
  /** In the filter language, or a pattern (CONTRACT 1.5). */
  readonly filter?: string | object | undefined;
  /** Objects at most. */
  readonly limit?: number | undefined;
  readonly readable: Readable;
  /** `members`: one JSON object, by id. `lines`: one JSON object a line. */
  readonly format: "members" | "lines";
  /** Of whoever asks; it is told what they are shown. */
  readonly outlook?: Outlook | undefined;
}

/**
 * Lists objects of all classes as the bytes that they are in the catalog: none
 * is parsed unless a filter or somebody's rights look into it, none is encoded
 * again. What is asked for is made in slices of the event loop, as fast as it is
 * taken and no faster.
 */
export class ObjectListing {
  readonly #catalog: Catalog;
  readonly #inventory: Pick<Inventory, "inSlices">;

  constructor(catalog: Catalog, inventory: Pick<Inventory, "inSlices">) {
    this.#catalog = catalog;
    this.#inventory = inventory;
  }

  /** @throws XoError FILTER_INVALID, INVALID_PARAMETERS, at once */
  list(request: ListingRequest): AsyncIterable<Buffer> {
    return this.#parts(request, toSelection(request.filter));
  }

  async *#parts(
    request: ListingRequest,
    selection: ObjectSelection,
  ): AsyncGenerator<Buffer> {
    const isMembers = request.format === "members";
    if (isMembers) yield Buffer.from("{");
    const writing = { left: request.limit ?? Infinity, isFirst: true };
    for (const className of this.#classesOf(selection)) {
      if (writing.left <= 0) break;
      const table = await this.#catalog.follow(className);
      const reader = new TableReader(table, { request, selection, writing });
      while (!reader.isDone) {
        const fragment = new Fragment();
        await this.#inventory.inSlices("listing", reader.fill(fragment));
        if (!fragment.isEmpty) yield fragment.finish();
      }
    }
    if (isMembers) yield Buffer.from("}");
  }

  #classesOf({ type }: ObjectSelection): ReadonlySet<string> {
    const types = type === undefined ? this.#catalog.types : [type];
    const classes = types.map((one) => this.#catalog.classOf(one));
    return new Set(classes.filter((name) => name !== undefined));
  }
}

/** What the tables of one listing share. */
interface Listing {
  readonly request: ListingRequest;
  readonly selection: ObjectSelection;
  readonly writing: { left: number; isFirst: boolean };
}

/** Goes through the rows of one table. What comes and goes meanwhile may be seen or not. */
class TableReader {
  readonly #table: ViewTable;
  readonly #listing: Listing;
  /** What an object of each type must pass, once asked for. */
  readonly #tests = new Map<string, readonly Predicate[]>();
  #row = 0;

  constructor(table: ViewTable, listing: Listing) {
    this.#table = table;
    this.#listing = listing;
  }

  get isDone(): boolean {
    return this.#row >= this.#table.rows || this.#listing.writing.left <= 0;
  }

  *fill(fragment: Fragment): Steps {
    while (!this.isDone && !fragment.isFull) {
      const row = this.#row++;
      if (this.#fits(row)) this.#write(row, fragment);
      yield;
    }
  }

  #fits(row: number): boolean {
    if (!this.#table.isLive(row)) return false;
    const type = this.#table.type(row);
    const wanted = this.#listing.selection.type;
    if (wanted !== undefined && wanted !== type) return false;
    const tests = this.#testsOf(type);
    if (tests.length === 0) return true;
    const object = this.#table.object(row);
    return tests.every((test) => test(object));
  }

  #testsOf(type: string): readonly Predicate[] {
    let tests = this.#tests.get(type);
    if (tests === undefined) {
      const { request, selection } = this.#listing;
      tests = [request.readable(type), selection.test].filter(
        (test) => test !== undefined,
      );
      this.#tests.set(type, tests);
    }
    return tests;
  }

  #write(row: number, fragment: Fragment): void {
    const { request, writing } = this.#listing;
    if (request.format === "members") {
      const id = this.#table.id(row);
      const key = JSON.stringify(id);
      fragment.addText(writing.isFirst ? `${key}:` : `,${key}:`);
      if (request.outlook?.remembers === true)
        request.outlook.tell(this.#table.type(row), id);
    }
    fragment.addBytes(this.#table.json(row));
    if (request.format === "lines") fragment.addText("\n");
    writing.isFirst = false;
    writing.left--;
  }
}
