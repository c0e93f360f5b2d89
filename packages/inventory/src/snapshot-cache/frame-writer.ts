import type { FileHandle } from "node:fs/promises";
import type { WrittenBatch } from "../store/batch-writer.js";
import type { CompressedRows } from "../store/compressed-rows.js";
import type { SharedRows } from "../store/shared-rows.js";
import type { Disk } from "./disk.js";
import type { FileEnd } from "./file-end.js";
import { createHead, HEAD_BYTES } from "./file-head.js";
import { FrameCipher } from "./frame-cipher.js";
import { fileKey } from "./file-key.js";
import { encodeIndex, type SnapshotStatus } from "./frame.js";
import type { SnapshotThread } from "./snapshot-thread.js";

interface FileLocation {
  readonly disk: Disk;
  readonly path: string;
  /** As in the file name. */
  readonly generation: number;
  readonly poolId: string;
  /** Master key, 32 bytes. */
  readonly key: Uint8Array;
}

/** Appends frames to one file. Calls of `append` must not overlap. */
export class FrameWriter {
  readonly #file: FileHandle;
  readonly #cipher: FrameCipher;
  #bytes: number;
  #frames: number;
  /**
   * True while the file may be longer than `#bytes`: after opening an existing
   * file and after a failed write. The next append truncates the file first.
   */
  #mayHaveTail: boolean;

  /**
   * Creates a file with a head and without frames. An existing file at this
   * path is overwritten.
   */
  static async create({
    disk,
    path,
    generation,
    poolId,
    key,
  }: FileLocation): Promise<FrameWriter> {
    const head = createHead(generation);
    const cipher = await FrameCipher.create(fileKey(key, head, poolId));
    const file = await disk.open(path, "w", 0o600);
    try {
      await writeAll(file, [head], 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new FrameWriter(file, cipher, { bytes: HEAD_BYTES, frames: 0 });
  }

  /** @param end the file is truncated here before the first append */
  constructor(
    file: FileHandle,
    cipher: FrameCipher,
    { bytes, frames }: FileEnd,
  ) {
    this.#file = file;
    this.#cipher = cipher;
    this.#bytes = bytes;
    this.#frames = frames;
    this.#mayHaveTail = true;
  }

  /** Size of head and complete frames. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Encrypts and appends a frame. When writing fails the frame counts as not
   * written, and the next append overwrites it.
   * @param status only with the last frame of a checkpoint
   */
  async append(batch: WrittenBatch, status?: SnapshotStatus): Promise<void> {
    const encrypted = await this.#cipher.encrypt(this.#frames, {
      index: encodeIndex(batch, status),
      records: batch.bytes,
    });
    await this.#truncateTail();
    this.#bytes += await writeAll(this.#file, encrypted, this.#bytes);
    this.#mayHaveTail = false;
    this.#frames++;
  }

  /**
   * Appends rows by a thread, which must be in use. When writing fails they count as
   * not written.
   * @returns the rows as they are in the file
   */
  async appendRows(
    shared: SharedRows,
    thread: SnapshotThread,
  ): Promise<CompressedRows> {
    await this.#truncateTail();
    const { end, rows } = await thread.write({
      fd: this.#file.fd,
      key: this.#cipher.key,
      end: { bytes: this.#bytes, frames: this.#frames },
      rows: shared,
    });
    this.#bytes = end.bytes;
    this.#frames = end.frames;
    this.#mayHaveTail = false;
    return rows;
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Before a write, which may leave a tail. */
  async #truncateTail(): Promise<void> {
    if (this.#mayHaveTail) await this.#file.truncate(this.#bytes);
    this.#mayHaveTail = true;
  }
}

/** Writes all parts at a position with one system call. @returns bytes written */
async function writeAll(
  file: FileHandle,
  parts: readonly Uint8Array[],
  at: number,
): Promise<number> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const { bytesWritten } = await file.writev([...parts], at);
  // A short write happens when the disk is full.
  if (bytesWritten < length)
    throw new Error(`only ${bytesWritten} of ${length} bytes were written`);
  return length;
}
