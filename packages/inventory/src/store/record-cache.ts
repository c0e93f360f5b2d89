import { HashIndex } from "./hash-index.js";
import type { RecordRows, XapiRecord } from "./record-rows.js";
import type { Steps } from "../slicer.js";

/**
 * What a parsed record takes on the heap, by estimate: measured over the 27
 * classes of 114,486 synthetic records (Node 20.20) were 108 bytes and 1.06 for
 * each byte of its JSON; text beyond Latin-1 takes up to twice that.
 */
const HEAP_PER_RECORD = 110;
const HEAP_PER_BYTE = 1.1;
/** What a record's place takes at most, here and in the index, room for growth included. */
const PLACE_BYTES = 88;
const FIRST_PLACES = 64;
/**
 * Of those that find the cache full, one in so many gets in. What is asked for
 * often gets in soon; what is read in turn does not drive out what would have been read next.
 */
const NEWCOMERS = 4;
const PLACES_A_STEP = 2048;

/**
 * Records that were read lately, bounded by bytes. What must go is drawn by lot,
 * not by age: when everything is read in turn and does not quite fit, a cache
 * by age misses every time, this one in proportion to what does not fit.
 */
export class RecordCache {
  readonly #limit: number;
  readonly #random: () => number;
  /** By place, without gaps; the rest of a place's facts stand in typed arrays. */
  readonly #records: XapiRecord[] = [];
  readonly #tables: RecordRows[] = [];
  #rows = new Int32Array(FIRST_PLACES);
  #hashes = new Int32Array(FIRST_PLACES);
  #sizes = new Int32Array(FIRST_PLACES);
  #revisions = new Float64Array(FIRST_PLACES);
  /** Places by the hash of the object's reference. */
  readonly #index = new HashIndex();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** @param limit bytes of heap, by estimate; all that the cache holds counts */
  constructor(limit: number, random: () => number) {
    this.#limit = limit;
    this.#random = random;
  }

  get stats() {
    return {
      records: this.#records.length,
      bytes: this.#bytes,
      limitBytes: this.#limit,
      hits: this.#hits,
      misses: this.#misses,
      evictions: this.#evictions,
    };
  }

  read(table: RecordRows, row: number): XapiRecord {
    const known = this.#take(table, row);
    if (known !== undefined) return known;
    const record = table.read(row);
    this.#keep(table, row, record);
    return record;
  }

  /** The same for who will not ask again: a record that is not here does not come in. */
  peek(table: RecordRows, row: number): XapiRecord {
    return this.#take(table, row) ?? table.read(row);
  }

  #take(table: RecordRows, row: number): XapiRecord | undefined {
    const place = this.#find(table, row);
    if (place >= 0) {
      if (this.#revisions[place] === table.revision(row)) {
        this.#hits++;
        return this.#records[place]!;
      }
      this.#drop(place);
    }
    this.#misses++;
    return undefined;
  }

  /** These tables are gone, with all their records. */
  *forget(tables: ReadonlySet<RecordRows>): Steps {
    let looks = 0;
    // From the end: into a place that is left comes one that was looked at.
    for (let place = this.#records.length - 1; place >= 0; place--) {
      if (place >= this.#records.length) continue;
      if (tables.has(this.#tables[place]!)) this.#drop(place);
      if (++looks % PLACES_A_STEP === 0) yield;
    }
  }

  #find(table: RecordRows, row: number): number {
    const hash = table.refHash(row);
    const index = this.#index;
    for (
      let slot = index.first(hash);
      slot >= 0;
      slot = index.next(slot, hash)
    ) {
      const place = index.rowAt(slot);
      if (this.#rows[place] === row && this.#tables[place] === table)
        return place;
    }
    return -1;
  }

  #keep(table: RecordRows, row: number, record: XapiRecord): void {
    const heap = HEAP_PER_RECORD + table.recordLength(row) * HEAP_PER_BYTE;
    const size = Math.ceil(heap) + PLACE_BYTES;
    if (!this.#makeRoom(size)) return;
    const place = this.#records.push(record) - 1;
    if (place === this.#rows.length) this.#grow();
    this.#tables.push(table);
    this.#rows[place] = row;
    this.#hashes[place] = table.refHash(row);
    this.#sizes[place] = size;
    this.#revisions[place] = table.revision(row);
    this.#index.add(this.#hashes[place], place);
    this.#bytes += size;
  }

  /** False: the newcomer is not to be kept. */
  #makeRoom(size: number): boolean {
    if (this.#bytes + size <= this.#limit) return true;
    if (size > this.#limit || this.#random() * NEWCOMERS >= 1) return false;
    while (this.#bytes + size > this.#limit) {
      this.#evictions++;
      this.#drop(Math.floor(this.#random() * this.#records.length));
    }
    return true;
  }

  #drop(place: number): void {
    const last = this.#records.length - 1;
    this.#bytes -= this.#sizes[place]!;
    this.#index.remove(this.#hashes[place]!, place);
    if (place !== last) this.#move(last, place);
    this.#records.pop();
    this.#tables.pop();
  }

  #move(from: number, to: number): void {
    this.#index.remove(this.#hashes[from]!, from);
    this.#index.add(this.#hashes[from]!, to);
    this.#records[to] = this.#records[from]!;
    this.#tables[to] = this.#tables[from]!;
    for (const facts of [this.#rows, this.#hashes, this.#sizes])
      facts[to] = facts[from]!;
    this.#revisions[to] = this.#revisions[from]!;
  }

  #grow(): void {
    const places = 2 * this.#rows.length;
    this.#rows = larger(this.#rows, new Int32Array(places));
    this.#hashes = larger(this.#hashes, new Int32Array(places));
    this.#sizes = larger(this.#sizes, new Int32Array(places));
    this.#revisions = larger(this.#revisions, new Float64Array(places));
  }
}

function larger<Numbers extends Int32Array | Float64Array>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from);
  return to;
}
