import type { Ref } from "@xo-server/model";
import type { ChangeKind } from "../feed/change-ring.js";
import type { Steps } from "../slicer/slicer.js";
import type { View } from "../views/view.js";
import type { CatalogParts, ClassParts } from "./class-parts.js";
import { DependencyIndex } from "./dependency-index.js";
import { RowFlag, RowTable } from "./row-table.js";
import { RowWriter } from "./row-writer.js";
import { TypeSummaries } from "./type-summaries.js";
import {
  contentHash,
  idHash,
  uuidHash,
  type IdRead,
  type LinkSources,
} from "./view-links.js";
import { ViewMaker } from "./view-maker.js";
import { ViewRows } from "./view-rows.js";

/** Rows that are only looked at, between two looks at the clock. */
const ROWS_A_LOOK = 4096;

export interface FollowedClassOptions {
  readonly view: View;
  readonly catalog: CatalogParts;
  readonly links: LinkSources;
  /** There is a row to be made anew. */
  readonly onDirty: () => void;
  readonly onIdChanged: (className: string, pool: number, ref: Ref) => void;
}

/** One class whose views are kept: what its rows are, what they read, and which of them are to be made anew. */
export class FollowedClass {
  readonly table: ViewRows;
  readonly #options: FollowedClassOptions;
  readonly #parts: ClassParts;
  readonly #writer: RowWriter;
  #dirty: number[] = [];

  constructor(options: FollowedClassOptions) {
    const { view, catalog, links } = options;
    this.#options = options;
    this.#parts = {
      ...catalog,
      view,
      rows: new RowTable(),
      dependencies: new DependencyIndex(),
      summaries: new TypeSummaries(),
      maker: new ViewMaker(view, links, catalog.logger),
      types: [...view.types],
    };
    this.table = new ViewRows(this.#parts);
    this.#writer = new RowWriter({
      parts: this.#parts,
      table: this.table,
      mark: (row) => {
        this.#mark(row);
      },
      onIdChanged: (row) => {
        const { rows } = this.#parts;
        options.onIdChanged(view.className, rows.pool(row), rows.ref(row));
      },
    });
  }

  get view(): View {
    return this.#options.view;
  }

  /** Bytes of the tables. */
  get byteLength(): number {
    return this.#parts.rows.byteLength + this.#parts.dependencies.byteLength;
  }

  get isDirty(): boolean {
    return this.#dirty.length > 0;
  }

  /** Does any of its views read records or ids of that class? */
  reads(className: string): boolean {
    return this.#parts.maker.links.classes.has(className);
  }

  readsByUuid(className: string): boolean {
    return this.#parts.maker.links.uuidClasses.has(className);
  }

  /** The id of a record whose row is up to date. */
  shownId(pool: number, ref: Ref): string | undefined {
    const { rows } = this.#parts;
    const row = rows.findRef(pool, ref);
    if (row < 0 || rows.has(row, RowFlag.dirty)) return undefined;
    return rows.has(row, RowFlag.live | RowFlag.held)
      ? rows.id(row)
      : undefined;
  }

  /** A view is made with an id of this class, read from the record. */
  onIdRead({ pool, ref, id }: IdRead): void {
    const { rows } = this.#parts;
    const row = rows.findRef(pool, ref);
    if (row < 0 || !rows.has(row, RowFlag.built)) return;
    const isKnown = rows.has(row, RowFlag.live | RowFlag.held);
    if ((isKnown ? rows.id(row) : undefined) !== id)
      rows.setFlag(row, RowFlag.idLeaked, true);
  }

  /**
   * A record of the class itself has changed.
   * @returns whether its id before and after will be compared when its view is made
   */
  onOwnChange(pool: number, ref: Ref, kind: ChangeKind): boolean {
    const { rows } = this.#parts;
    let row = rows.findRef(pool, ref);
    if (row < 0 && kind === "remove") return false;
    if (row < 0) row = rows.take(pool, ref);
    this.#mark(row);
    return rows.has(row, RowFlag.built);
  }

  /** A record has changed that its views may have read. */
  onContentChange(pool: number, ref: Ref): void {
    this.#markReaders(contentHash(pool, ref));
  }

  /** A record has come or gone, or has another id. */
  onIdChange(pool: number, ref: Ref): void {
    this.#markReaders(idHash(pool, ref));
  }

  /** There is a record with this uuid now. */
  onUuid(pool: number, uuid: string): void {
    this.#markReaders(uuidHash(pool, uuid));
  }

  /** Makes the views of all records that are there. Nothing is told of it. */
  *fill(): Steps {
    const { inventory, pools, rows, view, summaries } = this.#parts;
    const { className } = view;
    for (const poolId of inventory.pools) {
      const pool = pools.numberOf(poolId);
      for (const { ref } of inventory.list(className, { poolId })) {
        const known = rows.findRef(pool, ref);
        const row = known < 0 ? rows.take(pool, ref) : known;
        if (!rows.has(row, RowFlag.built)) this.#writer.rebuild(row);
        yield;
      }
    }
    yield* this.#finish();
    summaries.takeChanged();
    this.#writer.isTelling = true;
  }

  /** Makes what is to be made anew by now, and tells what differs. */
  *flush(): Steps {
    const { rows } = this.#parts;
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const row of dirty) {
      if (!rows.has(row, RowFlag.dirty)) continue;
      this.#writer.rebuild(row);
      yield;
    }
    yield* this.#finish();
  }

  /** The pool's own object has changed: those who read it are to be made anew; `all`: its id has. */
  *markPool(pool: number, all: boolean): Steps {
    const { rows } = this.#parts;
    const flag = all ? RowFlag.taken : RowFlag.readsPool;
    for (let row = 0; row < rows.rows; row++) {
      if (rows.has(row, flag) && rows.pool(row) === pool) this.#mark(row);
      if (row % ROWS_A_LOOK === 0) yield;
    }
  }

  *#finish(): Steps {
    let row: number | undefined;
    while ((row = this.#writer.takeLeaving()) !== undefined) {
      this.#writer.finishLeaving(row);
      yield;
    }
    this.#writer.publish();
  }

  #markReaders(hash: number): void {
    this.#parts.dependencies.forEachReader(hash, (row) => {
      this.#mark(row);
    });
  }

  #mark(row: number): void {
    const { rows } = this.#parts;
    if (rows.has(row, RowFlag.dirty)) return;
    rows.setFlag(row, RowFlag.dirty, true);
    this.table.forgetAnswers(row);
    this.#dirty.push(row);
    this.#options.onDirty();
  }
}
