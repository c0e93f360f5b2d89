import type { DiskContents } from "../disks/disk-contents.js";

export const MiB = 2 ** 20;
const zeros = Buffer.alloc(MiB);

/** Part of a disk. Bytes. */
export interface DiskPart {
  readonly offset: number;
  readonly length: number;
}

/** One MiB of a disk, or what is left of it at its end. */
export function diskBlock(
  contents: DiskContents,
  uuid: string,
  index: number,
): Buffer {
  const left = contents.size(uuid) - index * MiB;
  const block = Buffer.allocUnsafe(Math.min(MiB, left));
  contents.read(uuid, index * MiB, block);
  return block;
}

/** The whole disk, MiB by MiB at most; what was never written costs nothing. */
export function* rawDisk(
  contents: DiskContents,
  uuid: string,
): Generator<Buffer> {
  for (const { offset, length, kind } of contents.extents(uuid))
    for (let done = 0; done < length; done += MiB) {
      const bytes = Math.min(MiB, length - done);
      if (kind === "zero") yield zeros.subarray(0, bytes);
      else {
        const part = Buffer.allocUnsafe(bytes);
        contents.read(uuid, offset + done, part);
        yield part;
      }
    }
}

/** Numbers of the MiBs in an XVA: those with data, the first and the last always [export format]. */
export function exportedBlocks(
  contents: DiskContents,
  uuid: string,
): readonly number[] {
  const last = Math.max(0, Math.ceil(contents.size(uuid) / MiB) - 1);
  const blocks = new Set([0, last]);
  for (const { offset, length, kind } of contents.extents(uuid))
    if (kind === "data")
      for (let at = Math.floor(offset / MiB); at * MiB < offset + length; at++)
        blocks.add(at);
  return [...blocks].sort((a, b) => a - b);
}

/** Whether all bytes are zero. @param bytes at most one block (1 MiB); longer buffers are never zero */
export function isZero(bytes: Buffer): boolean {
  return bytes.equals(zeros.subarray(0, bytes.length));
}
