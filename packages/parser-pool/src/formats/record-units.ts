import { existsSync, readFileSync } from "node:fs";
import { RECORD_STRIDE } from "@xo-server/model";
import type { BatchBuilder } from "./batch-builder.js";
import type { NameIndex } from "./name-index.js";

/** What assembly/split-records.ts exports. Positions are addresses in its memory. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly prepare: (slots: number, entries: number, columns: number) => void;
  /** pos, end, base, first, classIndex, table, columns, columnsUsed, maxRows: only numbers can be passed. */
  readonly split: (...numbers: number[]) => number;
  readonly rows: () => number;
}

// Memory layout, from the start: the stack, the slots and entries of the
// column names, the names, then the bytes, then the rows and columns found.
const SLOTS_AT = 1024;
const ENTRIES_AT = 2048;
const NAMES_AT = 16 * 1024;
const BYTES_AT = 64 * 1024;
const PAGE = 64 * 1024;
/** Maximum of rows per call; the splitter calls again for more. */
const MAX_ROWS = 4096;
/** A class with more columns is split in TypeScript. */
const MAX_COLUMNS = 64;
/** Bytes that may be read past the end. */
const PAST_END = 64;

/** A piece of an answer in the memory of WebAssembly. */
export interface LoadedPiece {
  /** Offset from a position in the piece to its address. */
  readonly base: number;
  readonly end: number;
}

/**
 * Splits ordinary records in WebAssembly: about four times as fast as compiled
 * JavaScript, and without warm-up. One instance per thread; the bytes are copied
 * in (about 10 GB/s, into cached memory), so that the buffer itself can be
 * transferred.
 */
class RecordUnits {
  readonly #exports: Exports;
  #names: NameIndex | undefined;
  #columnCount = 0;

  constructor(module: WebAssembly.Module) {
    this.#exports = new WebAssembly.Instance(module, {}).exports as Exports;
  }

  /** Copies a piece into the memory. @returns undefined: the class has too many columns */
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
    // A zero byte ends every loop, as in the splitter.
    memory.fill(0, BYTES_AT + end - start, BYTES_AT + end - start + PAST_END);
    return { base: BYTES_AT - start, end: BYTES_AT + end - start };
  }

  /**
   * Reads units from `pos` on and adds their rows.
   * @returns the position after the last unit
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

/** The instance of this thread; undefined if the module was not built or cannot run (no SIMD). */
export function recordUnits(): RecordUnits | undefined {
  if (loaded === undefined) loaded = load();
  return loaded ?? undefined;
}

/** Whether records are split in WebAssembly; true also before the first one. */
export function usesRecordUnits(): boolean {
  return loaded !== null;
}

/** In the folder above the compiled files, and beside a bundle. */
const LOCATIONS = ["../split-records.wasm", "./split-records.wasm"];

function load(): RecordUnits | null {
  try {
    const file = LOCATIONS.map(
      (location) => new URL(location, import.meta.url),
    ).find((url) => existsSync(url));
    if (file === undefined) return null;
    return new RecordUnits(new WebAssembly.Module(readFileSync(file)));
  } catch {
    // The module is missing or needs SIMD: `stats().usesWebAssembly` shows this.
    return null;
  }
}
