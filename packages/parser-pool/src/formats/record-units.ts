import { readFileSync } from "node:fs";
import { RECORD_STRIDE } from "@xo-server/model";
import type { BatchBuilder } from "./batch-builder.js";
import type { NameIndex } from "./name-index.js";

/** What assembly/split-records.ts exports. Positions are addresses in its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly prepare: (slots: number, entries: number, columns: number) => void;
  /** pos, end, base, first, classIndex, table, columns, columnsUsed, maxRows: numbers are all that crosses the border. */
  readonly split: (...numbers: number[]) => number;
  readonly rows: () => number;
}

// The memory, from its start: the walk's stack, the slots and entries of the
// column names, the names, then the bytes, then the rows and columns found.
const SLOTS_AT = 1024;
const ENTRIES_AT = 2048;
const NAMES_AT = 16 * 1024;
const BYTES_AT = 64 * 1024;
const PAGE = 64 * 1024;
/** Rows of one call: the splitter calls again for more. */
const MAX_ROWS = 4096;
/** A class with more columns is left to the splitter. */
const MAX_COLUMNS = 64;
/** What the walk may read past the end. */
const PAST_END = 64;

/** A piece of an answer that lies in the memory. */
export interface LoadedPiece {
  /** Position in the piece to address: add this. */
  readonly base: number;
  readonly end: number;
}

/**
 * The short cut of the splitter: reads plain records in WebAssembly, some four
 * times as fast as JavaScript once that is compiled, and from the first byte on.
 * One for a thread; the bytes are copied in (some 10 GB/s, into memory that the
 * cache holds), so that the buffer itself can travel on.
 */
export class RecordUnits {
  readonly #exports: Exports;
  #names: NameIndex | undefined;
  #columnCount = 0;

  constructor(module: WebAssembly.Module) {
    this.#exports = new WebAssembly.Instance(module, {}).exports as Exports;
  }

  /** Copies the piece in. Undefined: the class has too many columns. */
  load(
    bytes: Uint8Array,
    { start, end, names }: { start: number; end: number; names: NameIndex },
  ): LoadedPiece | undefined {
    if (names.count > MAX_COLUMNS) return undefined;
    this.#reserve(
      BYTES_AT + (end - start) + PAST_END + this.#resultBytes(names),
    );
    this.#prepare(names);
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(bytes.subarray(start, end), BYTES_AT);
    // A zero stops every loop, as in the splitter.
    memory.fill(0, BYTES_AT + end - start, BYTES_AT + end - start + PAST_END);
    return { base: BYTES_AT - start, end: BYTES_AT + end - start };
  }

  /**
   * Reads units from `pos` on and adds their rows.
   * @returns the position behind the last one
   */
  split(
    { base, end }: LoadedPiece,
    pos: number,
    { first, className }: { first: boolean; className: string },
    builder: BatchBuilder,
  ): number {
    const { split, rows, memory } = this.#exports;
    const table = align(end + PAST_END);
    const columns = table + MAX_ROWS * RECORD_STRIDE * 4;
    const classIndex = builder.classIndex(className);
    let used = pos + base;
    let isFirst = first;
    for (;;) {
      used = split(
        used,
        end,
        base,
        isFirst ? 1 : 0,
        classIndex,
        table,
        columns,
        builder.columnsUsed,
        MAX_ROWS,
      );
      const count = rows();
      builder.append(
        new Int32Array(memory.buffer, table, count * RECORD_STRIDE),
        new Int32Array(memory.buffer, columns, count * 2 * this.#columnCount),
        count,
      );
      if (count < MAX_ROWS) return used - base;
      isFirst = false;
    }
  }

  #resultBytes(names: NameIndex): number {
    return 8 + MAX_ROWS * (RECORD_STRIDE * 4 + names.count * 8);
  }

  #reserve(bytes: number): void {
    const { memory } = this.#exports;
    const missing = bytes - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  }

  #prepare(names: NameIndex): void {
    if (names === this.#names) return;
    this.#names = names;
    this.#columnCount = names.count;
    const { buffer } = this.#exports.memory;
    names.writeTo(new Uint8Array(buffer), {
      slotsAt: SLOTS_AT,
      entriesAt: ENTRIES_AT,
      namesAt: NAMES_AT,
    });
    this.#exports.prepare(SLOTS_AT, ENTRIES_AT, names.count);
  }
}

function align(address: number): number {
  return (address + 7) & ~7;
}

let loaded: RecordUnits | null | undefined;

/** The short cut of this thread; undefined where its module was not built or does not run (no SIMD). */
export function recordUnits(): RecordUnits | undefined {
  if (loaded === undefined) loaded = load();
  return loaded ?? undefined;
}

function load(): RecordUnits | null {
  try {
    const file = new URL("../split-records.wasm", import.meta.url);
    return new RecordUnits(new WebAssembly.Module(readFileSync(file)));
  } catch {
    return null;
  }
}
