import { HashIndex } from "./hash-index.js";
import type { RecordRows, XapiRecord } from "./record-rows.js";
import type { Steps } from "../slicer/slicer.js";

/**
 * Heap of a parsed record, estimated. Measured over the 27 classes of 114,486
 * synthetic records (Node 20.20): 108 bytes plus 1.06 per byte of JSON; text
 * beyond Latin-1 takes up to twice that.
 */
const HEAP_PER_RECORD = 110;
const HEAP_PER_BYTE = 1.1;
/** Maximum size of an entry in the arrays and the index, including room for growth, in bytes. */
const ENTRY_BYTES = 88;
const INITIAL_ENTRIES = 64;
/**
 * When the cache is full, one of this many new records is admitted. Frequently
 * read records are admitted soon; a sequential scan does not evict what it
 * would read next.
 */
const ADMISSION_ODDS = 4;
const ENTRIES_PER_STEP = 2048;

/**
 * Cache of parsed records, bounded by bytes. Eviction is random, not by age:
 * when a scan over all records does not quite fit, an LRU cache misses every
 * time, this one only in proportion to what does not fit.
 */
export class RecordCache {
  readonly #limit: number;
  readonly #random: () => number;
  /**
   * Entries without gaps; their other fields are in typed arrays at the same
   * index.
   */
  readonly #records: XapiRecord[] = [];
  readonly #tables: RecordRows[] = [];
  #rows = new Int32Array(INITIAL_ENTRIES);
  #hashes = new Int32Array(INITIAL_ENTRIES);
  #sizes = new Int32Array(INITIAL_ENTRIES);
  #revisions = new Float64Array(INITIAL_ENTRIES);
  /** Entry numbers by the hash of the object's reference. */
  readonly #index = new HashIndex();
  #bytes = 0;
  #hits = 0;
  #misses = 0;
  #evictions = 0;

  /** @param limit bytes on the heap (estimated), bookkeeping included */
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

  /** The parsed record of a row. Shared by all readers: must not be changed. */
  read(table: RecordRows, row: number): XapiRecord {
    const cached = this.#lookUp(table, row);
    if (cached !== undefined) return cached;
    const record = table.read(row);
    this.#insert(table, row, record);
    return record;
  }

  /** Like `read`, without adding the record to the cache. */
  peek(table: RecordRows, row: number): XapiRecord {
    return this.#lookUp(table, row) ?? table.read(row);
  }

  #lookUp(table: RecordRows, row: number): XapiRecord | undefined {
    const entry = this.#find(table, row);
    if (entry >= 0) {
      if (this.#revisions[entry] === table.revision(row)) {
        this.#hits++;
        return this.#records[entry]!;
      }
      this.#evict(entry);
    }
    this.#misses++;
    return undefined;
  }

  /** Evicts the record of a row that is about to be removed; no lookup finds it afterwards. */
  evictRow(table: RecordRows, row: number): void {
    const entry = this.#find(table, row);
    if (entry >= 0) this.#evict(entry);
  }

  /** Evicts all records of these tables, which are about to be dropped. */
  *evictTables(tables: ReadonlySet<RecordRows>): Steps {
    let scanned = 0;
    // From the end: the entry that fills a gap has already been checked.
    for (let entry = this.#records.length - 1; entry >= 0; entry--) {
      if (entry >= this.#records.length) continue;
      if (tables.has(this.#tables[entry]!)) this.#evict(entry);
      if (++scanned % ENTRIES_PER_STEP === 0) yield;
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
      const entry = index.rowAt(slot);
      if (this.#rows[entry] === row && this.#tables[entry] === table)
        return entry;
    }
    return -1;
  }

  #insert(table: RecordRows, row: number, record: XapiRecord): void {
    const heap = HEAP_PER_RECORD + table.recordLength(row) * HEAP_PER_BYTE;
    const size = Math.ceil(heap) + ENTRY_BYTES;
    if (!this.#reserve(size)) return;
    const entry = this.#records.push(record) - 1;
    if (entry === this.#rows.length) this.#grow();
    this.#tables.push(table);
    this.#rows[entry] = row;
    this.#hashes[entry] = table.refHash(row);
    this.#sizes[entry] = size;
    this.#revisions[entry] = table.revision(row);
    this.#index.add(this.#hashes[entry], entry);
    this.#bytes += size;
  }

  /**
   * Evicts until `size` bytes fit. @returns false when the new record is not
   * admitted
   */
  #reserve(size: number): boolean {
    if (this.#bytes + size <= this.#limit) return true;
    if (size > this.#limit || this.#random() * ADMISSION_ODDS >= 1)
      return false;
    while (this.#bytes + size > this.#limit) {
      this.#evictions++;
      this.#evict(Math.floor(this.#random() * this.#records.length));
    }
    return true;
  }

  #evict(entry: number): void {
    const last = this.#records.length - 1;
    this.#bytes -= this.#sizes[entry]!;
    this.#index.remove(this.#hashes[entry]!, entry);
    if (entry !== last) this.#move(last, entry);
    this.#records.pop();
    this.#tables.pop();
  }

  #move(from: number, to: number): void {
    this.#index.remove(this.#hashes[from]!, from);
    this.#index.add(this.#hashes[from]!, to);
    this.#records[to] = this.#records[from]!;
    this.#tables[to] = this.#tables[from]!;
    for (const numbers of [this.#rows, this.#hashes, this.#sizes])
      numbers[to] = numbers[from]!;
    this.#revisions[to] = this.#revisions[from]!;
  }

  #grow(): void {
    const capacity = 2 * this.#rows.length;
    this.#rows = copyInto(this.#rows, new Int32Array(capacity));
    this.#hashes = copyInto(this.#hashes, new Int32Array(capacity));
    this.#sizes = copyInto(this.#sizes, new Int32Array(capacity));
    this.#revisions = copyInto(this.#revisions, new Float64Array(capacity));
  }
}

function copyInto<Numbers extends Int32Array | Float64Array>(
  from: Numbers,
  to: Numbers,
): Numbers {
  to.set(from);
  return to;
}
