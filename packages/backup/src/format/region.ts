import { ID_SIZE } from "../keys/derived-keys.js";
import { NAME_SIZE, REGION_BLOCKS } from "./limits.js";

/** Where a chunk is: its pack, by name or by a number, and its number in the pack. */
export interface ChunkLocation<Pack = string> {
  readonly id: Buffer;
  /** Hexadecimal name, unless `Pack` is a number. */
  readonly pack: Pack;
  readonly entry: number;
}

/** Blocks of a disk that are stored as a part of one chunk. */
export interface Extent<Pack = string> {
  /** First block, counted from the beginning of the region. */
  readonly block: number;
  readonly blocks: number;
  /** Number of the block of the chunk at which the extent begins. */
  readonly skip: number;
  readonly chunk: ChunkLocation<Pack>;
}

/** Encoded extents that refer to packs by number: packs get their names later. */
export interface ExtentTable {
  /** Numbers of packs, in the order in which the table refers to them. */
  readonly packs: readonly number[];
  readonly table: Buffer;
}

/*
 * The extents of 256 MiB of a disk; blocks in no extent are zero.
 *
 *   4       magic
 *   2       number of packs
 *   2       number of extents
 *   32 x n  names of packs
 *   24 x m  extents: 2 block, 1 blocks, 1 skip, 2 pack, 2 entry, 16 id
 */
const MAGIC = Buffer.from("XRG1", "latin1");
const HEADER_SIZE = 8;
const EXTENT_SIZE = 24;

/** Encodes extents before their packs have names. @param extents in order of their blocks */
export function tabulateExtents(
  extents: readonly Extent<number>[],
): ExtentTable {
  const packs = [...new Set(extents.map(({ chunk }) => chunk.pack))];
  const indexes = new Map(packs.map((pack, i) => [pack, i]));
  const table = Buffer.alloc(extents.length * EXTENT_SIZE);
  extents.forEach(({ block, blocks, skip, chunk }, i) => {
    let at = table.writeUInt16BE(block, i * EXTENT_SIZE);
    at = table.writeUInt8(blocks, at);
    at = table.writeUInt8(skip, at);
    at = table.writeUInt16BE(indexes.get(chunk.pack)!, at);
    at = table.writeUInt16BE(chunk.entry, at);
    chunk.id.copy(table, at);
  });
  return { packs, table };
}

/** Encodes a region when its packs have names. @param names of the packs of the table, in its order */
export function encodeRegion(names: readonly string[], table: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_SIZE);
  MAGIC.copy(header);
  header.writeUInt16BE(names.length, 4);
  header.writeUInt16BE(table.length / EXTENT_SIZE, 6);
  const packs = names.map((name) => Buffer.from(name, "hex"));
  return Buffer.concat([header, ...packs, table]);
}

/** @returns the extents in order of their blocks @throws Error if the bytes are not a region */
export function decodeRegion(bytes: Buffer): Extent[] {
  const packCount = bytes.readUInt16BE(4);
  const count = bytes.readUInt16BE(6);
  const start = HEADER_SIZE + packCount * NAME_SIZE;
  if (
    !bytes.subarray(0, MAGIC.length).equals(MAGIC) ||
    bytes.length !== start + count * EXTENT_SIZE
  )
    throw new Error("not a region");
  const packs = Array.from({ length: packCount }, (_, i) =>
    bytes
      .subarray(HEADER_SIZE + i * NAME_SIZE, HEADER_SIZE + (i + 1) * NAME_SIZE)
      .toString("hex"),
  );
  const extents: Extent[] = [];
  let next = 0;
  for (let i = 0; i < count; i++) {
    const at = start + i * EXTENT_SIZE;
    const block = bytes.readUInt16BE(at);
    const blocks = bytes.readUInt8(at + 2);
    const pack = packs[bytes.readUInt16BE(at + 4)];
    if (block < next || blocks === 0 || pack === undefined)
      throw new Error("extents out of order");
    next = block + blocks;
    if (next > REGION_BLOCKS) throw new Error("extent outside of its region");
    extents.push({
      block,
      blocks,
      skip: bytes.readUInt8(at + 3),
      chunk: {
        id: bytes.subarray(at + 8, at + 8 + ID_SIZE),
        pack,
        entry: bytes.readUInt16BE(at + 6),
      },
    });
  }
  return extents;
}

/** Extents without some blocks. @param isRemoved by block of the region */
export function withoutBlocks<Pack>(
  extents: readonly Extent<Pack>[],
  isRemoved: (block: number) => boolean,
): Extent<Pack>[] {
  const rest: Extent<Pack>[] = [];
  for (const { block, blocks, skip, chunk } of extents) {
    let start = 0;
    for (let i = 0; i <= blocks; i++) {
      if (i < blocks && !isRemoved(block + i)) continue;
      if (i > start)
        rest.push({
          block: block + start,
          blocks: i - start,
          skip: skip + start,
          chunk,
        });
      start = i + 1;
    }
  }
  return rest;
}
