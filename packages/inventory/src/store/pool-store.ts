import { Operation, type RecordBatch } from "@xo-server/model";
import { BatchCursor } from "./batch-cursor.js";
import type { ChangeFeed } from "../feed/change-feed.js";
import type { ChangeKind } from "../feed/change-ring.js";
import { ClassTable } from "./class-table.js";
import { PoolTables, type FoundRow } from "./pool-tables.js";
import { Segments, type SegmentStats } from "./segments.js";
import type { Steps } from "../slicer.js";

/** Records between two looks at the clock: some 100 us. */
const ROWS_A_STEP = 64;
/** Rows that are only looked at are cheaper. */
const ROWS_A_LOOK = 2048;

/** Of a memory, smaller batches are copied: a segment each would be many. */
const ADOPTED_BYTES = 64 * 1024;

export interface PoolStoreOptions {
  readonly poolId: string;
  readonly feed: ChangeFeed;
  /** Classes that are held; events of others are passed over. */
  readonly isMirrored: (className: string) => boolean;
  /** Before an object goes. */
  readonly onRemove?: (table: ClassTable, row: number) => void;
  /** After a step that changed `count` objects. */
  readonly onChanged: (count: number) => void;
}

/** A buffer with nothing live in it yet must not go: this byte is live while it is read. */
const PIN = 1;

interface Owned {
  readonly table: ClassTable;
  readonly owner: { readonly pool: number; readonly class: number };
}

/** A batch on its way into a segment of its own. */
interface Run {
  readonly batch: RecordBatch;
  readonly record: BatchCursor;
  readonly listing: Listing | undefined;
  readonly segment: number;
}

/** One listing of one class. */
export interface Listing {
  readonly className: string;
  /** On every row that it has seen. */
  readonly mark: number;
  /** There was nothing before: received buffers are kept rather than copied. */
  readonly isFirst: boolean;
}

export interface PoolStoreStats extends SegmentStats {
  /** Bytes of tables and indexes. */
  readonly tableBytes: number;
}

/** The objects of one pool. Whatever takes long comes as steps, for a slicer. */
export class PoolStore {
  readonly #options: PoolStoreOptions;
  readonly #pool: number;
  readonly #segments = new Segments();
  readonly #tables = new PoolTables(this.#segments);
  readonly #owned = new Map<string, Owned>();
  #mark = 0;
  #revision = 0;
  #objects = 0;

  constructor(options: PoolStoreOptions) {
    this.#options = options;
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

  /** Takes records of a listing or of an event answer. */
  *apply(batch: RecordBatch, listing?: Listing): Steps {
    const record = new BatchCursor(batch);
    const owned = batch.classes.map((name) => this.#ownedOf(name));
    const mark = listing?.mark;
    const segment =
      listing?.isFirst === true ? this.#adopt(batch, record) : ClassTable.COPY;
    for (let from = 0; from < batch.count; from += ROWS_A_STEP) {
      const before = this.#options.feed.revision;
      const end = Math.min(batch.count, from + ROWS_A_STEP);
      for (let i = from; i < end; i++) {
        if (segment !== ClassTable.COPY && owned.length === 1)
          i += this.#insertRun(
            owned[0],
            { batch, record, listing, segment },
            i,
            end,
          );
        if (i === end) break;
        record.moveTo(i);
        const one = owned[record.classIndex];
        if (one !== undefined) this.#applyRecord(one, record, segment, mark);
      }
      this.#told(before);
      yield;
    }
    if (segment !== ClassTable.COPY) this.#segments.release(segment, PIN);
  }

  /** Takes what a memory kept. No listing has seen it. */
  restore(batch: RecordBatch): Steps {
    const isLarge = batch.buffer.byteLength >= ADOPTED_BYTES;
    return this.apply(
      batch,
      isLarge ? { className: "", mark: 0, isFirst: true } : undefined,
    );
  }

  /** Removes the objects that the listing, now complete, has not seen. */
  *sweep({ className, mark }: Listing): Steps {
    const owned = this.#owned.get(className);
    if (owned === undefined) return;
    const { table } = owned;
    for (let from = 0; from < table.rows; from += ROWS_A_LOOK) {
      const before = this.#options.feed.revision;
      const end = Math.min(table.rows, from + ROWS_A_LOOK);
      for (let row = from; row < end; row++)
        if (table.isLive(row) && table.mark(row) !== mark)
          this.#remove(owned, row);
      this.#told(before);
      yield;
    }
  }

  /** Removes everything, and tells so. */
  *clear(): Steps {
    for (const className of this.#owned.keys())
      yield* this.sweep(this.beginListing(className));
    this.#tables.clear();
    this.#owned.clear();
  }

  /** Moves records out of segments that are dead for the most part; does nothing when it is not worth it. */
  *compact(): Steps {
    if (!this.#segments.condemn()) return;
    for (const table of this.#tables.all)
      for (let row = 0; row < table.rows; row++) {
        table.moveFrom(row);
        if (row % ROWS_A_STEP === 0) yield;
      }
  }

  #ownedOf(className: string): Owned | undefined {
    const known = this.#owned.get(className);
    if (known !== undefined || !this.#options.isMirrored(className))
      return known;
    const table = this.#tables.add(className);
    if (table === undefined) return undefined;
    const number = this.#options.feed.numberOf(className);
    const owned = { table, owner: { pool: this.#pool, class: number } };
    this.#owned.set(className, owned);
    return owned;
  }

  /** A received buffer is kept whole if most of it is records. */
  #adopt(batch: RecordBatch, record: BatchCursor): number {
    let bytes = 0;
    for (let i = 0; i < batch.count; i++) {
      record.moveTo(i);
      bytes += record.length + record.refLength;
    }
    if (bytes < batch.buffer.byteLength * 0.75) return ClassTable.COPY;
    const segment = this.#segments.adopt(batch.buffer);
    this.#segments.retain(segment, PIN);
    return segment;
  }

  /** Rows of a first listing, as far as they are plain. @returns how many */
  #insertRun(
    owned: Owned | undefined,
    { batch, record, listing, segment }: Run,
    from: number,
    to: number,
  ): number {
    if (owned === undefined || listing === undefined) return 0;
    const { table, columns } = batch;
    const { bytes } = record;
    const { feed } = this.#options;
    const count = owned.table.insertRun({ table, columns, bytes }, from, to, {
      segment,
      mark: listing.mark,
      revision: feed.revision + 1,
    });
    if (count > 0)
      this.#revision = feed.pushAdded(
        owned.owner,
        { table, bytes },
        from,
        count,
      );
    this.#objects += count;
    return count;
  }

  #applyRecord(
    owned: Owned,
    record: BatchCursor,
    segment: number,
    mark: number | undefined,
  ): void {
    const { table } = owned;
    const { bytes, refOffset, refLength, refHash } = record;
    let row = table.find(bytes, refOffset, refLength, refHash);
    if (record.operation === Operation.del) {
      if (row >= 0) this.#remove(owned, row);
      return;
    }
    // An event without its record tells nothing.
    if (record.length === 0) return;
    if (row < 0) {
      const revision = this.#push(owned, "add", record);
      row = table.insert(record, segment, revision);
      this.#objects++;
    } else if (!table.isSame(row, record)) {
      const revision = this.#push(owned, "update", record);
      table.replace(row, record, segment, revision);
    }
    if (mark !== undefined) table.setMark(row, mark);
  }

  #remove(owned: Owned, row: number): void {
    const { table, owner } = owned;
    this.#options.onRemove?.(table, row);
    this.#revision = this.#options.feed.push(owner, "remove", {
      bytes: table.bytes(row),
      offset: table.refOffset(row),
      length: table.refLength(row),
    });
    table.remove(row);
    this.#objects--;
  }

  #push({ owner }: Owned, kind: ChangeKind, record: BatchCursor): number {
    this.#revision = this.#options.feed.push(owner, kind, {
      bytes: record.bytes,
      offset: record.refOffset,
      length: record.refLength,
    });
    return this.#revision;
  }

  #told(before: number): void {
    const { feed, onChanged } = this.#options;
    if (feed.revision > before) onChanged(feed.revision - before);
  }
}
