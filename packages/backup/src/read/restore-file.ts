import { open, unlink, type FileHandle } from "node:fs/promises";
import { RepositoryError } from "../errors.js";
import { BLOCK_SIZE, REGION_SIZE } from "../format/limits.js";
import type { DiskPart, DiskReader } from "./disk-reader.js";
import { RestoredFile, writeFully } from "./restored-file.js";

interface RestoreOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: RestoreProgress) => void) | undefined;
}

export interface RestoreProgress {
  /** Bytes of the disk that are done, zeros included. */
  readonly done: number;
  /** Bytes of the disk. */
  readonly total: number;
  /** Bytes written to the target. */
  readonly written: number;
}

/**
 * Restores a disk into a new sparse file, which is removed if that fails.
 * @throws Error `EEXIST` if the file exists
 * @throws RepositoryError `missing` or `damaged`
 */
export async function restoreToFile(
  reader: DiskReader,
  path: string,
  options: RestoreOptions = {},
): Promise<RestoreProgress> {
  const file = await RestoredFile.create(path, reader.size);
  try {
    const progress = new Progress(reader.size, options);
    for (const region of reader.regions)
      await reader.readRegion(
        region,
        async (parts) => {
          await file.write(parts);
          for (const { bytes } of parts)
            progress.add(bytes.length, bytes.length);
        },
        options.signal,
      );
    await file.sync();
    return progress.end();
  } catch (error) {
    await unlink(path); // a part of a disk must not be taken for a disk
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Makes an existing file or device equal to a disk: reads both, writes only the
 * blocks that differ. A file must be as large as the disk.
 * @throws RepositoryError `invalid`, `missing` or `damaged`
 */
export async function restoreDifferences(
  reader: DiskReader,
  path: string,
  options: RestoreOptions = {},
): Promise<RestoreProgress> {
  const file = await open(path, "r+");
  try {
    const target = await file.stat();
    if (target.isFile() && target.size !== reader.size)
      throw new RepositoryError(
        "invalid",
        `target: ${path} has ${target.size} bytes, the disk ${reader.size}`,
      );
    const progress = new Progress(reader.size, options);
    const regions = Math.ceil(reader.size / REGION_SIZE);
    for (let region = 0; region < regions; region++) {
      const isWritten = new Uint8Array(REGION_SIZE / BLOCK_SIZE);
      await reader.readRegion(
        region,
        async (parts) => {
          for (const part of parts) {
            const first = (part.offset % REGION_SIZE) / BLOCK_SIZE;
            const blocks = Math.ceil(part.bytes.length / BLOCK_SIZE);
            isWritten.fill(1, first, first + blocks);
            progress.add(part.bytes.length, await writeDifferent(file, part));
          }
        },
        options.signal,
      );
      await writeZeros(file, { reader, region, isWritten, progress });
    }
    await file.sync();
    return progress.end();
  } finally {
    await file.close();
  }
}

/** The whole disk in order, zeros included, in parts of 1 MiB at most. @throws RepositoryError */
export async function* readDisk(
  reader: DiskReader,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const step = 16 * BLOCK_SIZE;
  const zeros = Buffer.alloc(Math.min(step, reader.size));
  const regions = Math.ceil(reader.size / REGION_SIZE);
  for (let region = 0; region < regions; region++) {
    const start = region * REGION_SIZE;
    const end = Math.min(start + REGION_SIZE, reader.size);
    const extents = await reader.extents(region);
    let next = 0;
    for (let offset = start; offset < end; offset += step) {
      signal?.throwIfAborted();
      const length = Math.min(step, end - offset);
      const block = (offset - start) / BLOCK_SIZE;
      const from = next;
      while (next < extents.length && extents[next]!.block < block + 16) next++;
      if (from === next) {
        yield zeros.subarray(0, length);
        continue;
      }
      const bytes = Buffer.alloc(length);
      for (const part of await reader.readExtents(
        region,
        extents.slice(from, next),
      ))
        part.bytes.copy(bytes, part.offset - offset);
      yield bytes;
    }
  }
}

class Progress {
  readonly #size: number;
  readonly #report: RestoreOptions["onProgress"];
  #done = 0;
  #written = 0;

  constructor(size: number, { onProgress }: RestoreOptions) {
    this.#size = size;
    this.#report = onProgress;
  }

  add(done: number, written: number): void {
    this.#done += done;
    this.#written += written;
    this.#report?.(this.#now());
  }

  end(): RestoreProgress {
    this.#done = this.#size;
    const progress = this.#now();
    this.#report?.(progress);
    return progress;
  }

  #now(): RestoreProgress {
    return { done: this.#done, total: this.#size, written: this.#written };
  }
}

/** @returns the bytes written */
async function writeDifferent(
  file: FileHandle,
  { offset, bytes }: DiskPart,
): Promise<number> {
  const present = Buffer.alloc(bytes.length);
  await file.read(present, 0, present.length, offset);
  let written = 0;
  for (let at = 0; at < bytes.length; at += BLOCK_SIZE) {
    const block = bytes.subarray(at, at + BLOCK_SIZE);
    if (block.equals(present.subarray(at, at + BLOCK_SIZE))) continue;
    await writeFully(file, offset + at, block);
    written += block.length;
  }
  return written;
}

/** Blocks that are zero in the backup and are not in the target. */
async function writeZeros(
  file: FileHandle,
  target: {
    reader: DiskReader;
    region: number;
    isWritten: Uint8Array;
    progress: Progress;
  },
): Promise<void> {
  const { reader, region, isWritten, progress } = target;
  for (let block = 0; block < isWritten.length; block++) {
    const offset = region * REGION_SIZE + block * BLOCK_SIZE;
    const length = Math.min(BLOCK_SIZE, reader.size - offset);
    if (length <= 0) return;
    if (isWritten[block] === 1) continue;
    const bytes = Buffer.alloc(length);
    progress.add(length, await writeDifferent(file, { offset, bytes }));
  }
}
