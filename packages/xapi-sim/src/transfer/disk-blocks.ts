import type { DiskContents } from "../disks/disk-contents.js";

export const MiB = 2 ** 20;

/** One MiB of a disk; zeros behind its end. */
export function diskBlock(
  contents: DiskContents,
  uuid: string,
  index: number,
): Buffer {
  const block = Buffer.allocUnsafe(MiB);
  contents.read(uuid, index * MiB, block);
  return block;
}

/** Numbers of the MiBs with data; with `from` of those that differ from that disk. */
export function dataBlocks(
  contents: DiskContents,
  uuid: string,
  from?: string,
): readonly number[] {
  const found = new Set<number>();
  const extents = contents.extents(uuid, from === undefined ? {} : { from });
  for (const { offset, length, kind } of extents)
    if (kind === "data" || from !== undefined)
      for (let at = Math.floor(offset / MiB); at * MiB < offset + length; at++)
        found.add(at);
  return [...found].sort((a, b) => a - b);
}

/** The whole disk, MiB by MiB. */
export function* rawDisk(
  contents: DiskContents,
  uuid: string,
): Generator<Buffer> {
  const size = contents.size(uuid);
  for (let at = 0; at < size; at += MiB)
    yield diskBlock(contents, uuid, at / MiB).subarray(0, size - at);
}

/** Numbers of the MiBs in an XVA: those with data, the first and the last always [export format]. */
export function exportedBlocks(
  contents: DiskContents,
  uuid: string,
): readonly number[] {
  const last = Math.max(0, Math.ceil(contents.size(uuid) / MiB) - 1);
  const blocks = new Set([0, ...dataBlocks(contents, uuid), last]);
  return [...blocks].sort((a, b) => a - b);
}
