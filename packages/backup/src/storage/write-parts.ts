import type { FileHandle } from "node:fs/promises";

/**
 * Bytes of a write through the page cache at most. Linux takes memory for it in pieces as large as the write, up to
 * 1 MiB and more. In a virtual machine that gives free memory back to its host, such pieces have to be fetched from it
 * again, which costs several times the CPU time of the write (docs/decisions/036 and 061).
 */
export const WRITE_SIZE = 512 * 1024;
/** Parts of one write at most: the system has a limit of 1,024. */
const MAX_PARTS = 256;

/**
 * Appends parts to a file.
 * @param path of the file, for messages
 * @throws Error `ENOSPC` if the disk fills up; errors of the file system
 */
export async function writeParts(
  file: FileHandle,
  path: string,
  parts: readonly Uint8Array[],
): Promise<void> {
  for (const { some, size } of toWrites(parts)) {
    const { bytesWritten } = await file.writev(some);
    // A disk that fills up may end a write early without an error.
    if (bytesWritten !== size)
      throw Object.assign(new Error(`${path}: short write, disk full`), {
        code: "ENOSPC",
      });
  }
}

/** Joins small parts and cuts large ones. */
function* toWrites(
  parts: readonly Uint8Array[],
): Generator<{ some: Uint8Array[]; size: number }> {
  let some: Uint8Array[] = [];
  let size = 0;
  for (const part of parts)
    for (let done = 0; done < part.length;) {
      const piece = part.subarray(done, done + WRITE_SIZE - size);
      some.push(piece);
      size += piece.length;
      done += piece.length;
      if (size < WRITE_SIZE && some.length < MAX_PARTS) continue;
      yield { some, size };
      some = [];
      size = 0;
    }
  if (size > 0) yield { some, size };
}
