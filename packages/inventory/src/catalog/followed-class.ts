import type { Ref } from "@xo-server/model";
import type { ChangeKind } from "../feed/change-recorder.js";
import type { Steps } from "../slicer/slicer.js";
import type { View } from "../views/view.js";
import type { CatalogContext, ClassContext } from "./class-context.js";
import { DependencyIndex } from "./dependency-index.js";
import { RowFlag, ViewRowTable } from "./view-row-table.js";
import { RowWriter } from "./row-writer.js";
import { TypeSummaries } from "./type-summaries.js";
import {
  contentHash,
  idHash,
  uuidHash,
  type IdRead,
  type LinkSources,
} from "./view-links.js";
import { ViewBuilder } from "./view-builder.js";
import { ViewRows } from "./view-rows.js";

/** Rows scanned in one step of the slicer. */
const ROWS_PER_STEP = 4096;

/** Records of a loaded pool that get a row in one step of the slicer. */
const RECORDS_PER_STEP = 16;

interface FollowedClassOptions {
  readonly view: View;
  readonly context: CatalogContext;
  readonly links: LinkSources;
  /** Called when a row becomes dirty. */
  readonly onDirty: () => void;
  readonly onIdChanged: (className: string, pool: number, ref: Ref) => void;
}

/**
 * One followed class: its rows, the dependencies of its views, and
 * the rows to be rebuilt.
 */
export class FollowedClass {
  readonly table: ViewRows;
  readonly #options: FollowedClassOptions;
  readonly #context: ClassContext;
  readonly #writer: RowWriter;
  #dirty: number[] = [];
  /** Pools that have, or had, rows: those of others need not be searched. */
  readonly #pools = new Set<number>();

  constructor(options: FollowedClassOptions) {
    const { view, context, links } = options;
    this.#options = options;
    this.#context = {
      ...context,
      view,
      rows: new ViewRowTable(),
      dependencies: new DependencyIndex(),
      summaries: new TypeSummaries(),
      builder: new ViewBuilder(view, links, { logger: context.logger }),
      reader: new ViewBuilder(view, links, {
        logger: context.logger,
        isLazy: true,
      }),
      types: [...view.types],
    };
    this.table = new ViewRows(this.#context);
    this.#writer = new RowWriter({
      context: this.#context,
      table: this.table,
      markDirty: (row) => {
        this.#markDirty(row);
      },
      onIdChanged: (row) => {
        const { rows } = this.#context;
        options.onIdChanged(view.className, rows.pool(row), rows.ref(row));
      },
    });
  }

  get view(): View {
    return this.#options.view;
  }

  /** Bytes of the tables. */
  get byteLength(): number {
    return (
      this.#context.rows.byteLength + this.#context.dependencies.byteLength
    );
  }

  /** Rows are not up to date, or changes are not published. */
  get isDirty(): boolean {
    return this.#dirty.length > 0 || this.#writer.hasUnpublished;
  }

  /** Whether any view of this class reads records or ids of another class. */
  reads(className: string): boolean {
    const { builder, reader } = this.#context;
    return (
      builder.links.classes.has(className) ||
      reader.links.classes.has(className)
    );
  }

  readsByUuid(className: string): boolean {
    const { builder, reader } = this.#context;
    return (
      builder.links.uuidClasses.has(className) ||
      reader.links.uuidClasses.has(className)
    );
  }

  /** Id of a record whose row is up to date; otherwise undefined. */
  currentId(pool: number, ref: Ref): string | undefined {
    const { rows } = this.#context;
    const row = rows.findRef(pool, ref);
    if (row < 0 || rows.has(row, RowFlag.dirty)) return undefined;
    return rows.has(row, RowFlag.live | RowFlag.shadowed)
      ? rows.id(row)
      : undefined;
  }

  /**
   * A view of another class was built with an id of this class that was derived
   * from the record, before the row was updated.
   */
  onIdRead({ pool, ref, id }: IdRead): void {
    const { rows } = this.#context;
    const row = rows.findRef(pool, ref);
    if (row < 0 || !rows.has(row, RowFlag.built)) return;
    const isKnown = rows.has(row, RowFlag.live | RowFlag.shadowed);
    if ((isKnown ? rows.id(row) : undefined) !== id)
      rows.setFlag(row, RowFlag.idReadBeforePublish, true);
  }

  /**
   * A record of this class has changed.
   * @returns whether the rebuild will compare the record's id before and after
   */
  onRecordChange(pool: number, ref: Ref, kind: ChangeKind): boolean {
    const { rows } = this.#context;
    let row = rows.findRef(pool, ref);
    if (row < 0 && kind === "remove") return false;
    if (row < 0) row = this.#allocate(pool, ref);
    this.#markDirty(row);
    return rows.has(row, RowFlag.built);
  }

  /** A record that views of this class may have read has changed. */
  onContentChange(pool: number, ref: Ref): void {
    this.#markReaders(contentHash(pool, ref));
  }

  /** A record was added or removed, or its id has changed. */
  onIdChange(pool: number, ref: Ref): void {
    this.#markReaders(idHash(pool, ref));
  }

  /** A record with this UUID exists now. */
  onUuid(pool: number, uuid: string): void {
    this.#markReaders(uuidHash(pool, uuid));
  }

  /**
   * Adds all existing records, without publishing them; those of pools that are
   * being loaded follow with `addPool`.
   */
  *fill(): Steps {
    const { inventory, loading, pools, rows, view, summaries } = this.#context;
    const { className } = view;
    for (const poolId of inventory.pools) {
      if (loading.has(poolId)) continue;
      const pool = pools.numberOf(poolId);
      for (const object of inventory.list(className, { poolId })) {
        const known = rows.findRef(pool, object.ref);
        const row = known < 0 ? this.#allocate(pool, object.ref) : known;
        if (!rows.has(row, RowFlag.built)) this.#writer.update(row, object);
        yield;
      }
    }
    yield* this.#finishFlush();
    summaries.takeChanged();
    this.#writer.isPublishing = true;
  }

  /** Updates the rows that are dirty now and publishes the changes. */
  *flush(): Steps {
    const { rows } = this.#context;
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const row of dirty) {
      if (!rows.has(row, RowFlag.dirty)) continue;
      this.#writer.update(row);
      yield;
    }
    yield* this.#finishFlush();
  }

  /**
   * Adds the records of a pool that has been loaded. Rows whose objects have to be built
   * are only marked as dirty.
   */
  *addPool(pool: number): Steps {
    const { inventory, pools, rows, view } = this.#context;
    // Rows of an earlier, incomplete listing.
    yield* this.markPool(pool, true);
    const poolId = pools.name(pool);
    let count = 0;
    for (const object of inventory.list(view.className, { poolId })) {
      if (rows.findRef(pool, object.ref) < 0) {
        const row = this.#allocate(pool, object.ref);
        if (this.#writer.isLazy) this.#writer.update(row, object);
        else this.#markDirty(row);
      }
      if (++count % RECORDS_PER_STEP === 0) yield;
    }
  }

  /**
   * Marks rows as dirty after a change of the pool's own record: rows that read
   * it, or all rows of the pool when its id has changed.
   */
  *markPool(pool: number, all: boolean): Steps {
    const { rows } = this.#context;
    if (!this.#pools.has(pool)) return;
    const flag = all ? RowFlag.taken : RowFlag.readsPool;
    for (let row = 0; row < rows.rows; row++) {
      if (rows.has(row, flag) && rows.pool(row) === pool) this.#markDirty(row);
      if (row % ROWS_PER_STEP === 0) yield;
    }
  }

  *#finishFlush(): Steps {
    let row: number | undefined;
    while ((row = this.#writer.takePendingRemoval()) !== undefined) {
      this.#writer.finishRemoval(row);
      yield;
    }
    this.#writer.publish();
  }

  #allocate(pool: number, ref: Ref): number {
    this.#pools.add(pool);
    return this.#context.rows.allocate(pool, ref);
  }

  #markReaders(hash: number): void {
    this.#context.dependencies.forEachReader(hash, (row) => {
      this.#markDirty(row);
    });
  }

  #markDirty(row: number): void {
    const { rows } = this.#context;
    if (rows.has(row, RowFlag.dirty)) return;
    rows.setFlag(row, RowFlag.dirty, true);
    this.table.invalidateResults(row);
    this.#dirty.push(row);
    this.#options.onDirty();
  }
}
