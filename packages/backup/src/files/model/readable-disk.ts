import { damaged } from "./file-system-error.js";

/** Bytes of one read at most: no field of a disk decides how much memory is used. */
export const MAX_READ = 4 * 1024 * 1024;

/** A disk or a part of one. Offsets and lengths in bytes. */
export interface ReadableDisk {
  readonly size: number;
  /**
   * @returns exactly `length` bytes, not to be changed
   * @throws FileSystemError `file-system-damaged` if the range is not within the disk
   */
  read(offset: number, length: number): Promise<Buffer>;
}

/** @throws FileSystemError `file-system-damaged` */
export function checkRange(
  { size }: Pick<ReadableDisk, "size">,
  offset: number,
  length: number,
): void {
  if (
    !Number.isSafeInteger(offset) ||
    !Number.isSafeInteger(length) ||
    offset < 0 ||
    length < 0 ||
    length > MAX_READ ||
    offset + length > size
  )
    throw damaged(`${length} bytes at ${offset} are not within ${size} bytes`);
}

/** The part of a disk that begins at an offset; it ends with the disk at the latest. */
export function partOf(
  disk: ReadableDisk,
  { offset, size }: { readonly offset: number; readonly size: number },
): ReadableDisk {
  const part = { size: Math.max(0, Math.min(size, disk.size - offset)) };
  return {
    ...part,
    async read(at, length) {
      checkRange(part, at, length);
      return disk.read(offset + at, length);
    },
  };
}
