import type { ViewChange } from "./catalog.js";
import type { ClassParts } from "./class-parts.js";
import { digestOf } from "./digest.js";
import { HeldRows } from "./held-rows.js";
import { PatchWriter } from "./patch-writer.js";
import { RowFlag } from "./row-table.js";
import { copyOf, type EncodedView } from "./view-encoder.js";
import type { MadeView } from "./view-maker.js";
import type { ViewRows } from "./view-rows.js";

/** Changes that a frame holds at most: a pool that joins brings as many frames as it takes. */
const MOST_CHANGES = 2048;

export interface RowWriterOptions {
  readonly parts: ClassParts;
  readonly table: ViewRows;
  /** The row's view is to be made anew. */
  readonly mark: (row: number) => void;
  /** The id of the row's record is another one now. */
  readonly onIdChanged: (row: number) => void;
}

/** Brings rows up to date with their records, and gathers what that changes. */
export class RowWriter {
  readonly #options: RowWriterOptions;
  readonly #parts: ClassParts;
  readonly #held = new HeldRows();
  readonly #patches = new PatchWriter();
  /** Rows whose record is gone, until it is clear that nobody takes their id. */
  #leaving: number[] = [];
  /** Rows whose removal is not told yet. */
  #toFree: number[] = [];
  #changes: ViewChange[] = [];
  /** False while the class is read for the first time: nobody knows its rows yet. */
  isTelling = false;

  constructor(options: RowWriterOptions) {
    this.#options = options;
    this.#parts = options.parts;
  }

  /** Makes the row's view anew. */
  rebuild(row: number): void {
    const { rows, maker, counters } = this.#parts;
    rows.setFlag(row, RowFlag.dirty, false);
    const made = maker.make(rows.pool(row), rows.ref(row));
    if (made === "gone") {
      this.#leave(row);
      return;
    }
    counters.built++;
    this.#noteReads(row);
    if (made === "hidden") this.#hide(row);
    else {
      const shown = this.#rowFor(row, made.id);
      if (shown >= 0) this.#show(shown, made);
    }
    if (this.#changes.length >= MOST_CHANGES) this.publish();
  }

  /** The next row whose record is gone, after all others were brought up to date. */
  takeLeaving(): number | undefined {
    return this.#leaving.pop();
  }

  /** Removes the row, unless its record is back or another record has the same id. */
  finishLeaving(row: number): void {
    const { rows } = this.#parts;
    if (!rows.has(row, RowFlag.live)) return;
    if (!this.#isGone(row)) {
      if (rows.has(row, RowFlag.dirty)) this.rebuild(row);
      return;
    }
    const heir = this.#held.first(rows.id(row));
    if (heir === undefined) {
      this.#retire(row);
      this.#release(row);
    } else {
      this.#takeOver(row, heir);
      this.rebuild(row);
    }
    if (this.#changes.length >= MOST_CHANGES) this.publish();
  }

  /** Tells what has been gathered. */
  publish(): void {
    const { rows, feed, summaries, view } = this.#parts;
    const changes = this.#changes;
    if (changes.length > 0) {
      this.#changes = [];
      const frame = feed.push({
        className: view.className,
        changes,
        summaries: summaries.takeChanged(),
      });
      changes.forEach(({ row }, index) => {
        rows.setRevision(row, frame.first + index);
      });
      this.#options.table.tellFlushed(frame);
      feed.tell(frame);
    }
    for (const row of this.#toFree) rows.free(row);
    this.#toFree = [];
  }

  #noteReads(row: number): void {
    const { rows, dependencies, maker } = this.#parts;
    const { hashes, count, readsPool } = maker.links;
    dependencies.set(row, hashes, count);
    rows.setFlag(row, RowFlag.readsPool, readsPool);
  }

  #leave(row: number): void {
    const { rows } = this.#parts;
    if (!rows.has(row, RowFlag.live)) {
      this.#release(row);
      return;
    }
    // Not up to date, for whoever asks for its id meanwhile.
    rows.setFlag(row, RowFlag.dirty, true);
    this.#leaving.push(row);
  }

  #hide(row: number): void {
    const { rows } = this.#parts;
    const known = RowFlag.live | RowFlag.held | RowFlag.idLeaked;
    const isOther = rows.has(row, known);
    if (rows.has(row, RowFlag.live)) this.#retire(row);
    this.#unhold(row);
    this.#noteId(row, isOther);
  }

  /** The row to show the row's record under `id`; -1: none, another record has that id. */
  #rowFor(row: number, id: string): number {
    const { rows } = this.#parts;
    const had = rows.has(row, RowFlag.live | RowFlag.held)
      ? rows.id(row)
      : undefined;
    this.#noteId(row, had !== id);
    if (had === id && rows.has(row, RowFlag.live)) return row;
    if (rows.has(row, RowFlag.live)) this.#retire(row);
    this.#unhold(row);
    const holder = rows.findId(id);
    if (holder < 0) rows.setId(row, id);
    else if (this.#isGone(holder)) {
      this.#takeOver(holder, row);
      this.#noteReads(holder);
      return holder;
    } else this.#hold(row, id, holder);
    return holder < 0 ? row : -1;
  }

  /** Who has read another id than the record has now must read it again. Of the first id nobody has read it from here. */
  #noteId(row: number, isOther: boolean): void {
    const { rows } = this.#parts;
    const hasLeaked = rows.has(row, RowFlag.idLeaked);
    const isFirst = !rows.has(row, RowFlag.built);
    rows.setFlag(row, RowFlag.idLeaked, false);
    rows.setFlag(row, RowFlag.built, true);
    if (hasLeaked || (isOther && !isFirst)) this.#options.onIdChanged(row);
  }

  #show(row: number, made: MadeView): void {
    const { rows, encoder, summaries, counters } = this.#parts;
    const encoded = encoder.encode(made.view);
    const digest = digestOf(encoded.bytes);
    const type = this.#typeNumber(made.type);
    const isKnown = rows.has(row, RowFlag.live);
    const isSameType = isKnown && rows.type(row) === type;
    // Whoever has read what was there in between must hear that it is as before.
    const hasLeaked = rows.has(row, RowFlag.leaked);
    if (isSameType && !hasLeaked && rows.hasDigest(row, digest)) {
      counters.unchanged++;
      return;
    }
    rows.setFlag(row, RowFlag.leaked, false);
    if (isKnown) this.#forgetState(row);
    if (isKnown && !isSameType) this.#gather(row, "remove");
    rows.setType(row, type);
    rows.setDigest(row, digest);
    rows.setLive(row, true);
    summaries.add(made.type, digest);
    this.#keep(row, encoded, isSameType);
    this.#options.table.tellSet(row, made.view);
  }

  /** Keeps the object as the row has it now, and gathers the change. */
  #keep(row: number, encoded: EncodedView, isUpdate: boolean): void {
    const { bytes, members } = encoded;
    const { cache, rows, feed } = this.#parts;
    if (!this.isTelling) {
      rows.setRevision(row, feed.revision);
      if (cache.hasRoom(bytes.length)) cache.set(rows, row, copyOf(bytes));
      else cache.drop(rows, row);
      return;
    }
    const before = isUpdate ? cache.peek(rows, row) : undefined;
    const patch = before && this.#patches.write(before, bytes, members);
    const json = copyOf(bytes);
    cache.set(rows, row, json);
    this.#gather(row, isUpdate ? "update" : "add", {
      json,
      ...(patch === undefined ? {} : { patch }),
    });
  }

  #gather(
    row: number,
    kind: ViewChange["kind"],
    content: Pick<ViewChange, "json" | "patch"> = {},
  ): void {
    if (!this.isTelling) return;
    const { rows, types, pools } = this.#parts;
    this.#changes.push({
      row,
      id: rows.id(row),
      type: types[rows.type(row)]!,
      pool: pools.name(rows.pool(row)),
      kind,
      ...content,
    });
  }

  /** The row is not shown any more; it may be again. */
  #retire(row: number): void {
    const { rows, cache } = this.#parts;
    rows.setFlag(row, RowFlag.leaked, false);
    this.#options.table.tellRemoved(row);
    this.#gather(row, "remove");
    this.#forgetState(row);
    cache.drop(rows, row);
    const heir = this.#held.first(rows.id(row));
    rows.setLive(row, false);
    rows.dropId(row);
    if (heir !== undefined) this.#options.mark(heir);
  }

  /** The row's record is gone, and so is the row. */
  #release(row: number): void {
    const { rows, dependencies } = this.#parts;
    this.#unhold(row);
    dependencies.clear(row);
    rows.dropRef(row);
    rows.setFlag(row, RowFlag.taken | RowFlag.dirty, false);
    this.#toFree.push(row);
  }

  /** A row whose record is gone goes on with the record of another row that has the same id: outside, the object has changed. */
  #takeOver(row: number, heir: number): void {
    const { rows } = this.#parts;
    const pool = rows.pool(heir);
    const ref = rows.ref(heir);
    this.#release(heir);
    rows.dropRef(row);
    rows.setRef(row, pool, ref);
    rows.setFlag(row, RowFlag.dirty, false);
  }

  #hold(row: number, id: string, holder: number): void {
    const { rows, pools, view, logger } = this.#parts;
    rows.storeId(row, id);
    rows.setFlag(row, RowFlag.held, true);
    this.#held.add(id, row);
    logger.debug(
      `${view.className} ${id} is in ${pools.name(rows.pool(holder))} and in ${pools.name(rows.pool(row))}: the first is shown`,
    );
  }

  #unhold(row: number): void {
    const { rows } = this.#parts;
    if (!rows.has(row, RowFlag.held)) return;
    const id = rows.id(row);
    this.#held.remove(id, row);
    rows.setFlag(row, RowFlag.held, false);
    // Others wait for the same id: if nobody has it now, one of them may.
    const heir = this.#held.first(id);
    if (heir !== undefined && rows.findId(id) < 0) this.#options.mark(heir);
  }

  /** What the row was counts no more in its type's summary. */
  #forgetState(row: number): void {
    const { rows, summaries, types } = this.#parts;
    summaries.remove(types[rows.type(row)]!, rows.digest(row));
  }

  #isGone(row: number): boolean {
    const { rows, pools, inventory, view } = this.#parts;
    const pool = pools.name(rows.pool(row));
    const ref = rows.ref(row);
    return inventory.getObject(pool, view.className, ref) === undefined;
  }

  #typeNumber(type: string): number {
    const { types } = this.#parts;
    const known = types.indexOf(type);
    return known >= 0 ? known : types.push(type) - 1;
  }
}
