import type { ClassTable } from "./class-table.js";
import type { XapiRecord } from "./record-rows.js";

/** What a parsed record takes on the heap, in bytes for each byte of its JSON (3,023 for 1,147 measured). */
const HEAP_PER_BYTE = 3;

interface Entry {
  readonly table: ClassTable;
  readonly row: number;
  readonly record: XapiRecord;
  readonly revision: number;
  readonly bytes: number;
}

/**
 * Records that were read lately, bounded by bytes. What must go is drawn by lot,
 * not by age: when everything is read in turn and does not quite fit, a cache
 * by age misses every time, this one in proportion to what does not fit.
 */
export class RecordCache {
  readonly #limit: number;
  readonly #random: () => number;
  readonly #entries: Entry[] = [];
  readonly #places = new Map<ClassTable, Map<number, number>>();
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  /** @param limit bytes of heap, by estimate */
  constructor(limit: number, random: () => number) {
    this.#limit = limit;
    this.#random = random;
  }

  get stats() {
    return {
      records: this.#entries.length,
      bytes: this.#bytes,
      hits: this.#hits,
      misses: this.#misses,
    };
  }

  read(table: ClassTable, row: number): XapiRecord {
    const place = this.#places.get(table)?.get(row);
    const revision = table.revision(row);
    if (place !== undefined) {
      const entry = this.#entries[place]!;
      if (entry.revision === revision) {
        this.#hits++;
        return entry.record;
      }
      this.#drop(place);
    }
    this.#misses++;
    const record = table.read(row);
    const bytes = table.recordLength(row) * HEAP_PER_BYTE;
    this.#keep({ table, row, record, revision, bytes });
    return record;
  }

  /** The table is gone, with all its records. */
  forget(table: ClassTable): void {
    for (const row of [...(this.#places.get(table)?.keys() ?? [])])
      this.#drop(this.#places.get(table)!.get(row)!);
    this.#places.delete(table);
  }

  #keep(entry: Entry): void {
    if (entry.bytes > this.#limit) return;
    while (this.#bytes + entry.bytes > this.#limit)
      this.#drop(Math.floor(this.#random() * this.#entries.length));
    this.#bytes += entry.bytes;
    this.#setPlace(entry, this.#entries.push(entry) - 1);
  }

  #drop(place: number): void {
    const entry = this.#entries[place]!;
    const last = this.#entries.pop()!;
    this.#places.get(entry.table)?.delete(entry.row);
    this.#bytes -= entry.bytes;
    if (last === entry) return;
    this.#entries[place] = last;
    this.#setPlace(last, place);
  }

  #setPlace({ table, row }: Entry, place: number): void {
    const rows = this.#places.get(table);
    if (rows === undefined) this.#places.set(table, new Map([[row, place]]));
    else rows.set(row, place);
  }
}
