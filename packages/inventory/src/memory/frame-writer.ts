import type { FileHandle } from "node:fs/promises";
import type { WrittenBatch } from "../store/batch-writer.js";
import type { Disk } from "./disk.js";
import { createHead, HEAD_BYTES } from "./file-head.js";
import { FrameCipher } from "./frame-cipher.js";
import { toIndex, type MemoryStatus } from "./frame.js";

export interface WritingPlace {
  readonly disk: Disk;
  readonly path: string;
  readonly generation: number;
  readonly poolId: string;
  readonly key: Uint8Array;
}

/** Where a file that was read goes on. */
export interface WritingEnd {
  readonly bytes: number;
  readonly frames: number;
}

/** Appends frames to one file. */
export class FrameWriter {
  readonly #file: FileHandle;
  readonly #cipher: FrameCipher;
  #bytes: number;
  #frames: number;
  /** There may be something behind `bytes` that is not ours to keep. */
  #isTorn: boolean;

  /** A new file; an old one of this path is gone. */
  static async create({
    disk,
    path,
    generation,
    poolId,
    key,
  }: WritingPlace): Promise<FrameWriter> {
    const head = createHead(generation);
    const cipher = await FrameCipher.create(key, head, poolId);
    const file = await disk.open(path, "w", 0o600);
    try {
      await writeAll(file, [head], 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new FrameWriter(file, cipher, { bytes: HEAD_BYTES, frames: 0 });
  }

  /** @param end what is behind it goes */
  constructor(
    file: FileHandle,
    cipher: FrameCipher,
    { bytes, frames }: WritingEnd,
  ) {
    this.#file = file;
    this.#cipher = cipher;
    this.#bytes = bytes;
    this.#frames = frames;
    this.#isTorn = true;
  }

  /** Of the frames that are whole. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A frame that could not be written whole counts as not written. */
  async append(batch: WrittenBatch, status?: MemoryStatus): Promise<void> {
    const sealed = await this.#cipher.seal(this.#frames, {
      index: toIndex(batch, status),
      records: batch.bytes,
    });
    if (this.#isTorn) await this.#file.truncate(this.#bytes);
    this.#isTorn = true;
    this.#bytes += await writeAll(this.#file, sealed, this.#bytes);
    this.#isTorn = false;
    this.#frames++;
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function writeAll(
  file: FileHandle,
  parts: readonly Uint8Array[],
  at: number,
): Promise<number> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const { bytesWritten } = await file.writev([...parts], at);
  // As when the disk has just become full.
  if (bytesWritten < length)
    throw new Error(`only ${bytesWritten} of ${length} bytes were written`);
  return length;
}
