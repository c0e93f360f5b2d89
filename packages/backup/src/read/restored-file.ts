import { constants } from "node:fs";
import { open, unlink, type FileHandle } from "node:fs/promises";
import { allocateAligned, isAligned } from "../aligned-memory.js";
import { copyBytes } from "../copy-bytes.js";
import { WRITE_SIZE } from "../storage/write-parts.js";
import type { DiskPart } from "./disk-reader.js";

/** Memory, offsets and lengths of direct writes are multiples of it: no file system requires more. */
const ALIGNMENT = 4096;
/** Bytes of a direct write at least: Linux sorts and joins small ones in the page cache. */
const MIN_DIRECT = 256 * 1024;

/** Parts of a disk without a gap between them. */
interface Run {
  readonly offset: number;
  readonly parts: Buffer[];
  length: number;
}

/**
 * A new file for a disk, each part of which is written once. Where the file system allows it, it is written past the
 * page cache: that saves the copy, and all is on the disk before `sync` (docs/decisions/057).
 */
export class RestoredFile {
  readonly #file: FileHandle;
  /** The same file, for direct writes. */
  readonly #direct: FileHandle | undefined;
  #isDirect: boolean;
  /** Memory for direct writes of parts that are not aligned, used again. */
  readonly #memory: Buffer[] = [];

  private constructor(file: FileHandle, direct: FileHandle | undefined) {
    this.#file = file;
    this.#direct = direct;
    this.#isDirect = direct !== undefined;
  }

  /**
   * @param size in bytes
   * @param isDirect whether to write past the page cache where that is possible
   * @throws Error `EEXIST` if the file exists; errors of the file system
   */
  static async create(
    path: string,
    size: number,
    isDirect = true,
  ): Promise<RestoredFile> {
    const file = await open(path, "wx");
    try {
      await file.truncate(size);
      const direct = isDirect ? await openDirect(path) : undefined;
      return new RestoredFile(file, direct);
    } catch (error) {
      await file.close();
      await unlink(path);
      throw error;
    }
  }

  /** @throws Error of the file system */
  async write(parts: readonly DiskPart[]): Promise<void> {
    for (const run of toRuns(parts)) {
      const written = this.#isDirect ? await this.#writeDirect(run) : 0;
      if (written < run.length) await this.#writeCached(run, written);
    }
  }

  /** Resolves when everything is on the disk. */
  async sync(): Promise<void> {
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#direct?.close();
    await this.#file.close();
  }

  /** @returns the bytes written; the others are to be written through the page cache */
  async #writeDirect({ offset, parts, length }: Run): Promise<number> {
    // Its length is not a multiple of a page at the end of a disk.
    if (length < MIN_DIRECT || length % ALIGNMENT !== 0) return 0;
    const isUsable = (part: Buffer): boolean =>
      isAligned(part, ALIGNMENT) && part.length % ALIGNMENT === 0;
    if (parts.every(isUsable)) return this.#writeAligned(offset, parts);
    const free = this.#memory.pop();
    const memory =
      free !== undefined && free.length >= length
        ? free
        : allocateAligned(length);
    let at = 0;
    for (const part of parts) at += copyBytes(part, memory, at);
    const written = await this.#writeAligned(offset, [
      memory.subarray(0, length),
    ]);
    this.#memory.push(memory);
    return written;
  }

  async #writeAligned(
    offset: number,
    parts: readonly Buffer[],
  ): Promise<number> {
    try {
      const { bytesWritten } = await this.#direct!.writev(parts, offset);
      return bytesWritten;
    } catch (error) {
      // The file system needs another alignment, or cannot write this file past the page cache.
      if (!isUnsupported(error)) throw error;
      this.#isDirect = false;
      return 0;
    }
  }

  /** @param done bytes that are written already */
  async #writeCached({ offset, parts }: Run, done: number): Promise<void> {
    let start = 0;
    for (const part of parts) {
      const from = Math.min(part.length, Math.max(0, done - start));
      const rest = part.subarray(from);
      await writeFully(this.#file, offset + start + from, rest);
      start += part.length;
    }
  }
}

/** Joins parts that follow each other. */
function toRuns(parts: readonly DiskPart[]): Run[] {
  const runs: Run[] = [];
  for (const { offset, bytes } of parts) {
    const last = runs.at(-1);
    if (last !== undefined && last.offset + last.length === offset) {
      last.parts.push(bytes);
      last.length += bytes.length;
    } else runs.push({ offset, parts: [bytes], length: bytes.length });
  }
  return runs;
}

/** @returns undefined where the system or the file system has no direct writes */
async function openDirect(path: string): Promise<FileHandle | undefined> {
  const { O_DIRECT, O_WRONLY } = constants as Partial<typeof constants>;
  if (O_DIRECT === undefined) return undefined;
  try {
    return await open(path, O_WRONLY! | O_DIRECT);
  } catch (error) {
    if (isUnsupported(error)) return undefined;
    throw error;
  }
}

function isUnsupported(error: unknown): boolean {
  const { code = "" } = error as NodeJS.ErrnoException;
  return ["EINVAL", "ENOTSUP", "EOPNOTSUPP"].includes(code);
}

/** Through the page cache. @param offset in bytes of the file */
export async function writeFully(
  file: FileHandle,
  offset: number,
  bytes: Buffer,
): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(
      bytes,
      done,
      Math.min(WRITE_SIZE, bytes.length - done),
      offset + done,
    );
    done += bytesWritten;
  }
}
