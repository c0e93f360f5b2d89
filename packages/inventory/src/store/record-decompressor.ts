import { ZstdModule } from "@xo-server/zstd";
import type { CompressedBlock } from "./compressed-rows.js";

/** Decompressed blocks in the cache: 18 MiB when all of them are in use. */
const SLOTS = 256;
/** Larger blocks, of single large records, are decompressed at each read, in bytes. */
const MAX_CACHED_BYTES = 128 * 1024;
/** Size of a slot for blocks of usual size, in bytes. */
const SLOT_BYTES = 72 * 1024;

/** The compressed records of a block. */
export class CompressedRecords {
  readonly stored: Uint8Array;
  /** Decompressed, in bytes. */
  readonly length: number;
  /** Its slot in the cache, if that still belongs to it. */
  slot = 0;

  constructor(
    buffer: SharedArrayBuffer,
    { offset, plainBytes, storedBytes, recordBytes }: CompressedBlock,
  ) {
    this.stored = new Uint8Array(buffer, offset + plainBytes, storedBytes);
    this.length = recordBytes;
  }
}

/** Decompresses records, and keeps the blocks that were read last, for all pools together. */
export class RecordDecompressor {
  #zstd: ZstdModule | undefined;
  #loading: Promise<void> | undefined;
  readonly #buffers: Buffer[] = [];
  readonly #owners: CompressedRecords[] = [];
  #next = 0;

  /** @param zstd default: `load` loads it */
  constructor(zstd?: ZstdModule) {
    this.#zstd = zstd;
  }

  /** Before the first `read`. @throws Error the WebAssembly cannot be loaded */
  load(): Promise<void> {
    return (this.#loading ??= this.#load());
  }

  /**
   * About 30 us for a block that is not in the cache.
   * @returns the records; valid until the next call
   * @throws Error these are not the bytes that were compressed
   */
  read(records: CompressedRecords): Buffer {
    if (this.#owners[records.slot] === records)
      return this.#buffers[records.slot]!;
    return records.length > MAX_CACHED_BYTES
      ? this.#decompress(records, Buffer.allocUnsafeSlow(records.length))
      : this.#readIntoSlot(records);
  }

  /** Slots are used in turn: a scan reads each block once. */
  #readIntoSlot(records: CompressedRecords): Buffer {
    const slot = this.#next;
    this.#next = (slot + 1) % SLOTS;
    let buffer = this.#buffers[slot];
    if (buffer === undefined || buffer.length < records.length)
      buffer = Buffer.allocUnsafeSlow(Math.max(SLOT_BYTES, records.length));
    this.#decompress(records, buffer);
    this.#buffers[slot] = buffer;
    this.#owners[slot] = records;
    records.slot = slot;
    return buffer;
  }

  #decompress({ stored, length }: CompressedRecords, into: Buffer): Buffer {
    if (this.#zstd === undefined) throw new Error("zstd is not loaded yet");
    const plain = this.#zstd.decompressInPlace(stored, length);
    if (plain.length !== length)
      throw new Error(`a block has ${plain.length} bytes, not ${length}`);
    into.set(plain);
    return into;
  }

  async #load(): Promise<void> {
    this.#zstd ??= await ZstdModule.load();
  }
}
