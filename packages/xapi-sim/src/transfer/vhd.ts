import type { DiskContents } from "../disks/disk-contents.js";
import type { DiskPart } from "./disk-blocks.js";
import {
  BLOCK_SIZE,
  makeFooter,
  makeHeader,
  parentLocators,
  SECTOR,
  tableAt,
  tableEntries,
  UNUSED,
  type VhdDisk,
} from "./vhd-format.js";

/** A block of 2 MiB, and its parts that are in the file. */
interface Block {
  readonly index: number;
  readonly parts: readonly DiskPart[];
}

/**
 * A disk as VHD, block by block in the disk's order: a dynamic one with all its data, or with
 * `base` a differencing one with the sectors that differ from that disk.
 */
export function* vhdFile(
  contents: DiskContents,
  disk: VhdDisk,
): Generator<Buffer> {
  const { uuid, base } = disk;
  const footer = makeFooter(disk);
  const blocks = blocksOf(contents, disk);
  yield footer;
  yield makeHeader(disk);
  for (const { path } of base === undefined ? [] : parentLocators(base)) {
    const sector = Buffer.alloc(SECTOR);
    path.copy(sector);
    yield sector;
  }
  yield makeTable(disk, blocks);
  for (const block of blocks)
    if (base === undefined) yield wholeBlock(contents, uuid, block);
    else yield differingBlock(contents, { uuid, base }, block);
  yield footer;
}

function blocksOf(
  contents: DiskContents,
  { uuid, base }: VhdDisk,
): readonly Block[] {
  const found = new Map<number, DiskPart[]>();
  const extents = contents.extents(
    uuid,
    base === undefined ? {} : { from: base },
  );
  for (const { offset, length, kind } of extents) {
    if (kind === "zero" && base === undefined) continue;
    for (let at = offset; at < offset + length;) {
      const index = Math.floor(at / BLOCK_SIZE);
      const end = Math.min(offset + length, (index + 1) * BLOCK_SIZE);
      const parts = found.get(index) ?? [];
      found.set(index, [...parts, { offset: at, length: end - at }]);
      at = end;
    }
  }
  return [...found].map(([index, parts]) => ({ index, parts }));
}

function makeTable(disk: VhdDisk, blocks: readonly Block[]): Buffer {
  const bytes = Math.ceil((tableEntries(disk) * 4) / SECTOR) * SECTOR;
  const table = Buffer.alloc(bytes, 0xff);
  let sector = (tableAt(disk) + table.length) / SECTOR;
  for (let entry = 0; entry < tableEntries(disk); entry++)
    table.writeUInt32BE(UNUSED, entry * 4);
  for (const { index } of blocks) {
    table.writeUInt32BE(sector, index * 4);
    sector += 1 + BLOCK_SIZE / SECTOR;
  }
  return table;
}

function wholeBlock(
  contents: DiskContents,
  uuid: string,
  { index }: Block,
): Buffer {
  const bytes = Buffer.allocUnsafe(SECTOR + BLOCK_SIZE);
  bytes.fill(0xff, 0, SECTOR);
  contents.read(uuid, index * BLOCK_SIZE, bytes.subarray(SECTOR));
  return bytes;
}

/** The block with its bitmap: only the bits of sectors that differ from the parent are set. */
function differingBlock(
  contents: DiskContents,
  { uuid, base }: { readonly uuid: string; readonly base: string },
  { index, parts }: Block,
): Buffer {
  const bytes = Buffer.alloc(SECTOR + BLOCK_SIZE);
  for (const { offset, length } of parts) {
    const [now, before] = [Buffer.allocUnsafe(length), Buffer.alloc(length)];
    contents.read(uuid, offset, now);
    contents.read(base, offset, before);
    const first = offset - index * BLOCK_SIZE;
    for (let at = 0; at < length; at += SECTOR) {
      const sector = now.subarray(at, at + SECTOR);
      if (sector.equals(before.subarray(at, at + SECTOR))) continue;
      sector.copy(bytes, SECTOR + first + at);
      const bit = (first + at) / SECTOR;
      bytes[bit >> 3]! |= 0x80 >> (bit & 7);
    }
  }
  return bytes;
}
