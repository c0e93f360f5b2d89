import { EventOperation, type RecordBatch } from "@xo-server/model";
import { AdoptedBlocks, moveRows } from "./adopted-blocks.js";
import { BatchCursor } from "./batch-cursor.js";
import type {
  ChangeKind,
  ChangeOwner,
  ChangeRecorder,
} from "../feed/change-recorder.js";
import { ClassTable } from "./class-table.js";
import type { CompressedRows } from "./compressed-rows.js";
import type { Listing } from "./listing.js";
import { PoolTables, type FoundRow } from "./pool-tables.js";
import {
  createSegmentServices,
  Segments,
  type SegmentServices,
  type SegmentStats,
} from "./segments.js";
import type { Steps } from "../slicer/slicer.js";
import type { StoreContent } from "./store-content.js";

/** Records applied in one step of the slicer: about 100 us. */
const ROWS_PER_STEP = 64;
/** Rows scanned in one step: scanning is cheaper than applying. */
const SCANNED_ROWS_PER_STEP = 2048;

/**
 * Batches of a snapshot below this size are copied: a segment each would be too
 * many.
 */
const MIN_ADOPTED_BYTES = 64 * 1024;

interface PoolStoreOptions {
  readonly poolId: string;
  readonly feed: ChangeRecorder;
  /** Whether a class is mirrored; events of other classes are ignored. */
  readonly isMirrored: (className: string) => boolean;
  /** Called before an object is removed. */
  readonly onRemove?: (table: ClassTable, row: number) => void;
  /** Called after a step that changed `count` objects. */
  readonly onChanged: (count: number) => void;
  /** Default: those of this pool alone. */
  readonly segments?: SegmentServices;
}

/**
 * A segment without live bytes is freed. This many bytes are retained while a
 * new segment is filled.
 */
const PIN_BYTES = 1;

/** The table of a mirrored class, and its numbers in the feed. */
interface MirroredTable {
  readonly table: ClassTable;
  readonly owner: ChangeOwner;
}

/** A batch that is inserted into a separate segment. */
interface SegmentInsert {
  readonly batch: RecordBatch;
  readonly record: BatchCursor;
  readonly listing: Listing | undefined;
  readonly segment: number;
}

export interface PoolStoreStats extends SegmentStats {
  /** Bytes of tables and indexes. */
  readonly tableBytes: number;
}

/**
 * The records of one pool. Long operations are generators of steps for the
 * slicer; steps of one pool must run in one lane.
 */
export class PoolStore {
  readonly #options: PoolStoreOptions;
  readonly #pool: number;
  readonly #services: SegmentServices;
  #segments: Segments;
  #tables: PoolTables;
  readonly #mirrored = new Map<string, MirroredTable>();
  #mark = 0;
  #revision = 0;
  #objects = 0;

  constructor(options: PoolStoreOptions) {
    this.#options = options;
    this.#services = options.segments ?? createSegmentServices();
    this.#segments = new Segments(this.#services);
    this.#tables = new PoolTables(this.#segments);
    this.#pool = options.feed.numberOf(options.poolId);
  }

  get objects(): number {
    return this.#objects;
  }

  /** Revision of the last change in this pool; 0 before the first. */
  get revision(): number {
    return this.#revision;
  }

  get stats(): PoolStoreStats {
    return { ...this.#segments.stats, tableBytes: this.#tables.byteLength };
  }

  table(className: string): ClassTable | undefined {
    return this.#tables.get(className);
  }

  tables(): readonly ClassTable[] {
    return this.#tables.all;
  }

  /** @param hash of the uuid: hashRef of its bytes */
  findUuid(uuid: string, hash: number): FoundRow | undefined {
    return this.#tables.findUuid(uuid, hash);
  }

  /** Number of objects by class; classes without objects are left out. */
  get counts(): ReadonlyMap<string, number> {
    return this.#tables.counts;
  }

  count(className: string): number {
    return this.table(className)?.count ?? 0;
  }

  /** See Inventory.digest. */
  digest(className?: string): string {
    return this.#tables.digest(className);
  }

  beginListing(className: string): Listing {
    const isFirst = this.count(className) === 0;
    return { className, mark: ++this.#mark, isFirst };
  }

  /**
   * Applies the records of a listing or of an event.from response. Records with
   * unchanged content cause no change.
   */
  *apply(batch: RecordBatch, listing?: Listing): Steps {
    const record = new BatchCursor(batch);
    const targets = batch.classes.map((name) => this.#mirroredTable(name));
    const mark = listing?.mark;
    const segment =
      listing?.isFirst === true ? this.#adopt(batch, record) : ClassTable.COPY;
    for (let from = 0; from < batch.count; from += ROWS_PER_STEP) {
      const before = this.#options.feed.revision;
      const end = Math.min(batch.count, from + ROWS_PER_STEP);
      for (let i = from; i < end; i++) {
        if (segment !== ClassTable.COPY && targets.length === 1)
          i += this.#insertMany(
            targets[0],
            { batch, record, listing, segment },
            i,
            end,
          );
        if (i === end) break;
        record.moveTo(i);
        const target = targets[record.classIndex];
        if (target !== undefined)
          this.#applyRecord(target, record, segment, mark);
      }
      this.#reportChanges(before);
      yield;
    }
    if (segment !== ClassTable.COPY) this.#segments.release(segment, PIN_BYTES);
  }

  /** Applies a batch of a snapshot. Its rows count as seen by no listing. */
  restore(batch: RecordBatch): Steps {
    const isLarge = batch.buffer.byteLength >= MIN_ADOPTED_BYTES;
    return this.apply(
      batch,
      isLarge ? { className: "", mark: 0, isFirst: true } : undefined,
    );
  }

  /** The same with compressed rows, of objects that the store does not have. */
  *restoreRows(rows: CompressedRows): Steps {
    const table = this.#mirroredTable(rows.className)?.table;
    if (table === undefined) return;
    const blocks = new AdoptedBlocks(this.#segments, rows);
    table.reserve(rows.cells.length / rows.stride);
    yield* blocks.visit((_index, at, segment) => {
      this.#revision = this.#options.feed.skip(1);
      table.insertRow(rows.cells, at, segment, this.#revision);
      this.#objects++;
    });
  }

  /** Before compressed rows are adopted or moved, so that they can be read. */
  untilReadable(): Promise<void> {
    return this.#services.decompressor.load();
  }

  /** See moveRows of adopted-blocks.ts. */
  *moveRows(rows: CompressedRows, first: number): Steps {
    const table = this.table(rows.className);
    if (table) yield* moveRows(this.#segments, table, rows, first);
  }

  /** Everything that the store holds. It must not be used afterwards. */
  get content(): StoreContent {
    return {
      segments: this.#segments.content,
      tables: this.#tables.content,
      mark: this.#mark,
      objects: this.#objects,
    };
  }

  /**
   * Takes over all objects of another store, which must not be used
   * afterwards. All of them are visible at once; the feed counts them, but does
   * not record each of them. This store must be empty.
   */
  adopt({ segments, tables, mark, objects }: StoreContent): void {
    const { feed } = this.#options;
    this.#segments = new Segments(this.#services, segments);
    this.#tables = new PoolTables(this.#segments, tables);
    this.#mark = mark;
    this.#objects = objects;
    const { all } = this.#tables;
    const rows = all.reduce((sum, table) => sum + table.rows, 0);
    const before = feed.revision;
    let first = feed.skip(rows);
    for (const table of all) {
      const owner = { pool: this.#pool, class: feed.numberOf(table.className) };
      this.#mirrored.set(table.className, { table, owner });
      table.assignRevisions(first);
      first += table.rows;
    }
    this.#revision = feed.revision;
    this.#reportChanges(before);
  }

  /** Removes the objects that a complete listing did not contain. */
  *sweep({ className, mark }: Listing): Steps {
    const mirrored = this.#mirrored.get(className);
    if (mirrored === undefined) return;
    const { table } = mirrored;
    for (let from = 0; from < table.rows; from += SCANNED_ROWS_PER_STEP) {
      const before = this.#options.feed.revision;
      const end = Math.min(table.rows, from + SCANNED_ROWS_PER_STEP);
      for (let row = from; row < end; row++)
        if (table.isLive(row) && table.mark(row) !== mark)
          this.#remove(mirrored, row);
      this.#reportChanges(before);
      yield;
    }
  }

  /** Removes all objects; the feed reports each removal. */
  *clear(): Steps {
    for (const className of this.#mirrored.keys())
      yield* this.sweep(this.beginListing(className));
    this.#services.released.add(this.#tables.byteLength);
    this.#tables.clear();
    this.#mirrored.clear();
  }

  /**
   * Moves records out of segments that are mostly dead; returns immediately
   * when too little would be gained.
   */
  *compact(): Steps {
    if (!this.#segments.selectSparse()) return;
    for (const table of this.#tables.all)
      for (let row = 0; row < table.rows; row++) {
        table.evacuate(row);
        if (row % ROWS_PER_STEP === 0) yield;
      }
  }

  #mirroredTable(className: string): MirroredTable | undefined {
    const known = this.#mirrored.get(className);
    if (known !== undefined || !this.#options.isMirrored(className))
      return known;
    const table = this.#tables.add(className);
    if (table === undefined) return undefined;
    const number = this.#options.feed.numberOf(className);
    const mirrored = { table, owner: { pool: this.#pool, class: number } };
    this.#mirrored.set(className, mirrored);
    return mirrored;
  }

  /**
   * Adopts the batch's buffer as a segment if at least three quarters of it are
   * records. @returns its number, or COPY
   */
  #adopt(batch: RecordBatch, record: BatchCursor): number {
    let bytes = 0;
    for (let i = 0; i < batch.count; i++) {
      record.moveTo(i);
      bytes += record.length + record.refLength;
    }
    if (bytes < batch.buffer.byteLength * 0.75) return ClassTable.COPY;
    const segment = this.#segments.adopt(batch.buffer);
    this.#segments.retain(segment, PIN_BYTES);
    return segment;
  }

  /**
   * Inserts records of a first listing, as far as they need no comparison.
   * @returns how many
   */
  #insertMany(
    target: MirroredTable | undefined,
    { batch, record, listing, segment }: SegmentInsert,
    from: number,
    to: number,
  ): number {
    if (target === undefined || listing === undefined) return 0;
    const { table, columns } = batch;
    const { bytes } = record;
    const { feed } = this.#options;
    const count = target.table.insertMany({ table, columns, bytes }, from, to, {
      segment,
      mark: listing.mark,
      revision: feed.revision + 1,
    });
    if (count > 0)
      this.#revision = feed.pushAdded(
        target.owner,
        { table, bytes },
        from,
        count,
      );
    this.#objects += count;
    return count;
  }

  #applyRecord(
    target: MirroredTable,
    record: BatchCursor,
    segment: number,
    mark: number | undefined,
  ): void {
    const { table } = target;
    const { bytes, refOffset, refLength, refHash } = record;
    let row = table.find(bytes, refOffset, refLength, refHash);
    if (record.operation === EventOperation.del) {
      if (row >= 0) this.#remove(target, row);
      return;
    }
    // An event without its record carries no information (XAPI event.from:
    // `snapshot` is absent).
    if (record.length === 0) return;
    if (row < 0) {
      const revision = this.#push(target, "add", record);
      row = table.insert(record, segment, revision);
      this.#objects++;
    } else if (!table.isSame(row, record)) {
      const revision = this.#push(target, "update", record);
      table.replace(row, record, segment, revision);
    }
    if (mark !== undefined) table.setMark(row, mark);
  }

  #remove(target: MirroredTable, row: number): void {
    const { table } = target;
    this.#options.onRemove?.(table, row);
    this.#pushRow(target, "remove", row);
    table.remove(row);
    this.#objects--;
  }

  #pushRow(
    { table, owner }: MirroredTable,
    kind: ChangeKind,
    row: number,
  ): number {
    return (this.#revision = this.#options.feed.push(owner, kind, {
      bytes: table.bytes(row),
      offset: table.refOffset(row),
      length: table.refLength(row),
    }));
  }

  #push(
    { owner }: MirroredTable,
    kind: ChangeKind,
    record: BatchCursor,
  ): number {
    return (this.#revision = this.#options.feed.push(owner, kind, {
      bytes: record.bytes,
      offset: record.refOffset,
      length: record.refLength,
    }));
  }

  #reportChanges(before: number): void {
    const { feed, onChanged } = this.#options;
    if (feed.revision > before) onChanged(feed.revision - before);
  }
}
