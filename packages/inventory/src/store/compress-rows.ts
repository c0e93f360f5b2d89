import { allocateShared } from "@xo-server/model";
import type { ZstdModule } from "@xo-server/zstd";
import type { CompressedBlock, CompressedRows } from "./compressed-rows.js";
import {
  CompressedRecords,
  RecordDecompressor,
} from "./record-decompressor.js";
import { Cell } from "./row-table.js";
import type { SharedRows, SharedSegment } from "./shared-rows.js";
import { StoredValues } from "./stored-values.js";

/** Size of the records of a block, in bytes: smaller ones compress less, larger ones take longer to read. */
const BLOCK_BYTES = 64 * 1024;
/** Up to this length, a loop copies bytes faster than a call. */
const MAX_SHORT_BYTES = 64;
/** Higher levels do not compress records further, and take longer. */
const LEVEL = 1;

/**
 * Compresses rows, about 400 MB a second: for threads other than the main one.
 * @param rows their cells are changed: they become those of the result
 */
export function compressRows(
  { className, cells, stride, segments }: SharedRows,
  zstd: ZstdModule,
): CompressedRows {
  const decompressor = new RecordDecompressor(zstd);
  const sources = segments.map((one) => new Source(one, decompressor));
  const blocks = new BlockWriter(zstd);
  for (let at = 0; at < cells.length; at += stride) {
    const source = sources[cells[at + Cell.segment]!];
    if (source === undefined) {
      cells[at + Cell.segment] = -1;
      continue;
    }
    const { plain, records } = source.read();
    const refOffset = cells[at + Cell.refOffset]!;
    const offset = cells[at + Cell.offset]!;
    const columnsFrom = source.isCompressed ? refOffset : offset;
    const ref = blocks.addRef(plain, refOffset, cells[at + Cell.refLength]!);
    for (let cell = at + Cell.columns; cell < at + stride; cell += 2) {
      const from = columnsFrom + cells[cell]!;
      const length = cells[cell + 1]!;
      if (length > 0) cells[cell] = blocks.addColumn(plain, from, length) - ref;
    }
    cells[at + Cell.segment] = blocks.number;
    cells[at + Cell.refOffset] = ref;
    const length = cells[at + Cell.length]!;
    cells[at + Cell.offset] = blocks.addRecord(records, offset, length);
    blocks.endRow();
  }
  return { className, cells, stride, ...blocks.end() };
}

/** A segment that records are read from. */
class Source {
  readonly isCompressed: boolean;
  readonly #plain: Buffer;
  readonly #records: CompressedRecords | undefined;
  readonly #decompressor: RecordDecompressor;

  constructor(
    { buffer, block }: SharedSegment,
    decompressor: RecordDecompressor,
  ) {
    this.isCompressed = block !== undefined;
    this.#plain =
      block === undefined
        ? Buffer.from(buffer)
        : Buffer.from(buffer, block.offset, block.plainBytes);
    this.#records = block && new CompressedRecords(buffer, block);
    this.#decompressor = decompressor;
  }

  /** Valid until the next call for another segment. */
  read(): { readonly plain: Buffer; readonly records: Buffer } {
    const plain = this.#plain;
    return this.#records === undefined
      ? { plain, records: plain }
      : { plain, records: this.#decompressor.read(this.#records) };
  }
}

/** Collects the blocks of a part. */
class BlockWriter {
  readonly #zstd: ZstdModule;
  readonly #plain = new ByteWriter();
  readonly #values = new StoredValues();
  readonly #records = new ByteWriter();
  readonly #parts: Uint8Array[] = [];
  readonly #blocks: CompressedBlock[] = [];
  #bytes = 0;

  constructor(zstd: ZstdModule) {
    this.#zstd = zstd;
  }

  /** Of the block that rows are added to. */
  get number(): number {
    return this.#blocks.length;
  }

  /** @returns the offset in the block */
  addRef(from: Buffer, offset: number, length: number): number {
    return this.#plain.add(from, offset, length);
  }

  /** @returns the offset in the block, where an equal value of another column or row may be */
  addColumn(from: Buffer, offset: number, length: number): number {
    const known = this.#values.find(this.#plain.buffer, from, offset, length);
    if (known >= 0) return known;
    const at = this.#plain.add(from, offset, length);
    this.#values.add(at, length);
    return at;
  }

  /** @returns the offset among the records of the block */
  addRecord(from: Buffer, offset: number, length: number): number {
    return this.#records.add(from, offset, length);
  }

  endRow(): void {
    if (this.#records.length >= BLOCK_BYTES) this.#endBlock();
  }

  end(): Pick<CompressedRows, "buffer" | "blocks"> {
    if (this.#records.length > 0) this.#endBlock();
    const buffer = allocateShared(this.#bytes);
    const bytes = new Uint8Array(buffer);
    let at = 0;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { buffer, blocks: this.#blocks };
  }

  #endBlock(): void {
    const plain = Buffer.from(this.#plain.bytes);
    const stored = this.#zstd.compress(this.#records.bytes, LEVEL);
    this.#blocks.push({
      offset: this.#bytes,
      plainBytes: plain.length,
      storedBytes: stored.length,
      recordBytes: this.#records.length,
    });
    this.#parts.push(plain, stored);
    this.#bytes += plain.length + stored.length;
    this.#plain.clear();
    this.#values.clear();
    this.#records.clear();
  }
}

/** Bytes one behind the other, in a buffer that grows. */
class ByteWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(2 * BLOCK_BYTES);
  length = 0;

  /** With the bytes so far at its start: valid until the next call. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  /** The bytes so far: valid until the next call. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  /** @returns the offset of what was added */
  add(from: Buffer, offset: number, length: number): number {
    const at = this.length;
    this.length += length;
    if (this.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * this.length);
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    if (length > MAX_SHORT_BYTES)
      from.copy(this.#buffer, at, offset, offset + length);
    else
      for (let i = 0; i < length; i++) this.#buffer[at + i] = from[offset + i]!;
    return at;
  }

  clear(): void {
    this.length = 0;
  }
}
