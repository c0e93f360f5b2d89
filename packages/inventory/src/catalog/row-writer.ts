import type { ViewChange } from "./catalog.js";
import type { StoredObject } from "../store/stored-object.js";
import type { ClassContext } from "./class-context.js";
import { digestOf, EMPTY_DIGEST } from "./digest.js";
import { RowChanges, type ChangeContent } from "./row-changes.js";
import { ShadowedRows } from "./shadowed-rows.js";
import { PatchWriter } from "./patch-writer.js";
import { readerOf, type RowReader } from "./row-reader.js";
import type { RecordedLinks } from "./view-links.js";
import { RowFlag } from "./view-row-table.js";
import { copyOf, type EncodedView } from "./view-encoder.js";
import type { BuiltView } from "./view-builder.js";
import type { ViewRows } from "./view-rows.js";

interface RowWriterOptions {
  readonly context: ClassContext;
  readonly table: ViewRows;
  /** The row's view has to be rebuilt. */
  readonly markDirty: (row: number) => void;
  /** The id of the row's record has changed. */
  readonly onIdChanged: (row: number) => void;
}

/**
 * Brings rows up to date with their records and collects the changes for the
 * next frame.
 */
export class RowWriter {
  readonly #options: RowWriterOptions;
  readonly #context: ClassContext;
  readonly #shadowed = new ShadowedRows();
  readonly #patches = new PatchWriter();
  /**
   * Rows whose record was removed. They are finished last: another record may
   * take over their id.
   */
  #pendingRemovals: number[] = [];
  /** Rows that are freed after their removal has been published. */
  #toFree: number[] = [];
  readonly #changes: RowChanges;
  /** False during the initial fill: there are no readers yet. */
  isPublishing = false;

  constructor(options: RowWriterOptions) {
    this.#options = options;
    this.#context = options.context;
    this.#changes = new RowChanges(options);
  }

  /** Whether rows are updated without building their objects. */
  get isLazy(): boolean {
    return !this.isPublishing || !this.#context.feed.hasSubscribers;
  }

  /** Updates the row from its record. @param object its record, if it is at hand */
  update(row: number, object?: StoredObject): void {
    this.#context.rows.setFlag(row, RowFlag.dirty, false);
    if (this.isLazy) this.#refresh(row, object);
    else this.#rebuild(row);
    if (this.#changes.isFull) this.publish();
  }

  /** Builds and encodes the object. */
  #rebuild(row: number): void {
    const { rows, builder, counters } = this.#context;
    const built = builder.build(rows.pool(row), rows.ref(row));
    if (built === "missing") {
      this.#deferRemoval(row);
      return;
    }
    counters.built++;
    this.#recordReads(row, builder.links);
    if (built === "hidden") this.#hide(row);
    else {
      const target = this.#rowFor(row, built.id, builder.links);
      if (target >= 0) this.#publishRow(target, built);
    }
  }

  /** Identifies the object. Observers then read the properties that they need. */
  #refresh(row: number, object: StoredObject | undefined): void {
    const { rows, reader, counters } = this.#context;
    const opened =
      object === undefined
        ? reader.open(rows.pool(row), rows.ref(row))
        : reader.openObject(rows.pool(row), object);
    if (opened === "missing") {
      this.#deferRemoval(row);
      return;
    }
    counters.refreshed++;
    this.#recordReads(row, reader.links);
    if (opened === "hidden") this.#hide(row);
    else {
      const target = this.#rowFor(row, opened.id, reader.links);
      if (target >= 0) this.#publishUnread(target, opened);
    }
  }

  /**
   * The next row whose record was removed; to be called after all other rows
   * are up to date.
   */
  takePendingRemoval(): number | undefined {
    return this.#pendingRemovals.pop();
  }

  /**
   * Removes the row, unless its record exists again or another record has the
   * same id.
   */
  finishRemoval(row: number): void {
    const { rows } = this.#context;
    if (!rows.has(row, RowFlag.live)) return;
    if (!this.#isRemoved(row)) {
      if (rows.has(row, RowFlag.dirty)) this.update(row);
      return;
    }
    const successor = this.#shadowed.firstOf(rows.id(row));
    if (successor === undefined) {
      this.#unpublish(row);
      this.#releaseRow(row);
    } else {
      this.#adoptRecord(row, successor);
      this.update(row);
    }
  }

  get hasUnpublished(): boolean {
    return this.#changes.count > 0;
  }

  /** Publishes the collected changes as a frame and frees removed rows. */
  publish(): void {
    this.#changes.publish();
    for (const row of this.#toFree) this.#context.rows.free(row);
    this.#toFree = [];
  }

  #recordReads(row: number, links: RecordedLinks): void {
    const { rows, dependencies } = this.#context;
    const { hashes, count, readsPool } = links;
    dependencies.set(row, hashes, count);
    rows.setFlag(row, RowFlag.readsPool, readsPool);
  }

  #deferRemoval(row: number): void {
    const { rows } = this.#context;
    if (!rows.has(row, RowFlag.live)) {
      this.#releaseRow(row);
      return;
    }
    // Dirty, so that `currentId` does not report the id in the meantime.
    rows.setFlag(row, RowFlag.dirty, true);
    this.#pendingRemovals.push(row);
  }

  #hide(row: number): void {
    const { rows } = this.#context;
    const flags = RowFlag.live | RowFlag.shadowed | RowFlag.idReadBeforePublish;
    const hadId = rows.has(row, flags);
    if (rows.has(row, RowFlag.live)) this.#unpublish(row);
    this.#unshadow(row);
    this.#checkId(row, hadId);
  }

  /**
   * The row that shows this row's record under `id`; -1 when another existing
   * record has that id.
   */
  #rowFor(row: number, id: string, links: RecordedLinks): number {
    const { rows } = this.#context;
    const previousId = rows.has(row, RowFlag.live | RowFlag.shadowed)
      ? rows.id(row)
      : undefined;
    this.#checkId(row, previousId !== id);
    if (previousId === id && rows.has(row, RowFlag.live)) return row;
    if (rows.has(row, RowFlag.live)) this.#unpublish(row);
    this.#unshadow(row);
    const ownerRow = rows.findId(id);
    if (ownerRow < 0) rows.setId(row, id);
    else if (this.#isRemoved(ownerRow)) {
      this.#adoptRecord(ownerRow, row);
      this.#recordReads(ownerRow, links);
      return ownerRow;
    } else this.#shadow(row, id, ownerRow);
    return ownerRow < 0 ? row : -1;
  }

  /**
   * Rebuilds readers that have seen another id than the record has now. The
   * first id of a row has no earlier readers.
   */
  #checkId(row: number, isChanged: boolean): void {
    const { rows } = this.#context;
    const wasRead = rows.has(row, RowFlag.idReadBeforePublish);
    const isFirst = !rows.has(row, RowFlag.built);
    rows.setFlag(row, RowFlag.idReadBeforePublish, false);
    rows.setFlag(row, RowFlag.built, true);
    if (wasRead || (isChanged && !isFirst)) this.#options.onIdChanged(row);
  }

  #publishRow(row: number, built: BuiltView): void {
    const { rows, encoder, summaries, counters } = this.#context;
    const encoded = encoder.encode(built.view);
    const digest = digestOf(encoded.bytes);
    const type = this.#typeNumber(built.type);
    const isKnown = rows.has(row, RowFlag.live);
    const isSameType = isKnown && rows.type(row) === type;
    // If the version in between was read, its readers must be notified even
    // when the object is as before.
    const wasRead = rows.has(row, RowFlag.readBeforePublish);
    const isEncoded = rows.has(row, RowFlag.encoded);
    if (isSameType && isEncoded && !wasRead && rows.hasDigest(row, digest)) {
      counters.unchanged++;
      return;
    }
    rows.setFlag(row, RowFlag.readBeforePublish, false);
    rows.setFlag(row, RowFlag.encoded, true);
    if (isKnown) this.#subtractFromSummary(row);
    if (isKnown && !isSameType) this.#collect(row, "remove");
    rows.setType(row, type);
    rows.setDigest(row, digest);
    rows.setLive(row, true);
    summaries.add(built.type, digest);
    this.#storeEncoded(row, encoded, isSameType);
    this.#options.table.notifySet(row, readerOf(built.view));
  }

  /** The row has changed or may have; the object is encoded when it is read. */
  #publishUnread(row: number, opened: RowReader): void {
    const { rows, cache, summaries, feed, reader } = this.#context;
    const type = this.#typeNumber(opened.type);
    const isKnown = rows.has(row, RowFlag.live);
    const isSameType = isKnown && rows.type(row) === type;
    rows.setFlag(row, RowFlag.readBeforePublish | RowFlag.encoded, false);
    if (isKnown) this.#subtractFromSummary(row);
    if (isKnown && !isSameType) this.#collect(row, "remove");
    rows.setType(row, type);
    rows.setDigest(row, EMPTY_DIGEST);
    rows.setLive(row, true);
    summaries.add(opened.type, EMPTY_DIGEST);
    cache.drop(rows, row);
    if (this.isPublishing) this.#collect(row, isSameType ? "update" : "add");
    else rows.setRevision(row, feed.revision);
    this.#options.table.notifySet(row, opened);
    // The properties that observers have read become dependencies.
    this.#recordReads(row, reader.links);
  }

  /** Caches the encoded object and collects the change. */
  #storeEncoded(row: number, encoded: EncodedView, isUpdate: boolean): void {
    const { bytes, members } = encoded;
    const { cache, rows, feed } = this.#context;
    if (!this.isPublishing) {
      rows.setRevision(row, feed.revision);
      if (cache.hasRoom(bytes.length)) cache.set(rows, row, copyOf(bytes));
      else cache.drop(rows, row);
      return;
    }
    const before = isUpdate ? cache.peek(rows, row) : undefined;
    const patch = before && this.#patches.write(before, bytes, members);
    const json = copyOf(bytes);
    cache.set(rows, row, json);
    this.#collect(row, isUpdate ? "update" : "add", {
      json,
      ...(patch === undefined ? {} : { patch }),
    });
  }

  #collect(
    row: number,
    kind: ViewChange["kind"],
    content?: ChangeContent,
  ): void {
    if (this.isPublishing) this.#changes.add(row, kind, content);
  }

  /** The row is no longer shown; it may be shown again later. */
  #unpublish(row: number): void {
    const { rows, cache } = this.#context;
    rows.setFlag(row, RowFlag.readBeforePublish | RowFlag.encoded, false);
    this.#options.table.notifyRemoved(row);
    this.#collect(row, "remove");
    this.#subtractFromSummary(row);
    cache.drop(rows, row);
    const successor = this.#shadowed.firstOf(rows.id(row));
    rows.setLive(row, false);
    rows.removeId(row);
    if (successor !== undefined) this.#options.markDirty(successor);
  }

  /** Frees the row of a removed record, after the next frame. */
  #releaseRow(row: number): void {
    const { rows, dependencies } = this.#context;
    this.#unshadow(row);
    dependencies.clear(row);
    rows.removeRef(row);
    rows.setFlag(row, RowFlag.taken | RowFlag.dirty, false);
    this.#toFree.push(row);
  }

  /**
   * Assigns the record of a shadowed row to a row whose record was removed: for
   * clients the same object has changed.
   */
  #adoptRecord(row: number, successor: number): void {
    const { rows } = this.#context;
    const pool = rows.pool(successor);
    const ref = rows.ref(successor);
    this.#releaseRow(successor);
    rows.removeRef(row);
    rows.setRef(row, pool, ref);
    rows.setFlag(row, RowFlag.dirty, false);
  }

  #shadow(row: number, id: string, ownerRow: number): void {
    const { rows, pools, view, logger } = this.#context;
    rows.storeId(row, id);
    rows.setFlag(row, RowFlag.shadowed, true);
    this.#shadowed.add(id, row);
    logger.debug(
      `${view.className} ${id} is in ${pools.name(rows.pool(ownerRow))} and in ${pools.name(rows.pool(row))}: the first one is shown`,
    );
  }

  #unshadow(row: number): void {
    const { rows } = this.#context;
    if (!rows.has(row, RowFlag.shadowed)) return;
    const id = rows.id(row);
    this.#shadowed.remove(id, row);
    rows.setFlag(row, RowFlag.shadowed, false);
    // Other rows are shadowed under the same id: if no row has it now, one of
    // them gets it.
    const successor = this.#shadowed.firstOf(id);
    if (successor !== undefined && rows.findId(id) < 0)
      this.#options.markDirty(successor);
  }

  /** Subtracts the previous version from the summary of its type. */
  #subtractFromSummary(row: number): void {
    const { rows, summaries, types } = this.#context;
    summaries.remove(types[rows.type(row)]!, rows.digest(row));
  }

  #isRemoved(row: number): boolean {
    const { rows, pools, inventory, view } = this.#context;
    const pool = pools.name(rows.pool(row));
    const ref = rows.ref(row);
    return inventory.getObject(pool, view.className, ref) === undefined;
  }

  #typeNumber(type: string): number {
    const { types } = this.#context;
    const known = types.indexOf(type);
    return known >= 0 ? known : types.push(type) - 1;
  }
}
