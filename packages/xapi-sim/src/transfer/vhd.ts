/** VHD blocks are of 2 MiB, behind a bitmap of one sector. */
const BLOCK_SIZE = 2 * 2 ** 20;
const SECTOR = 512;
const HEADER_AT = SECTOR;
const TABLE_AT = HEADER_AT + 1024;
const UNUSED = 0xffffffff;
/** VHD counts seconds from 2000. */
const VHD_EPOCH = 946684800;

export interface VhdDisk {
  readonly uuid: string;
  /** Bytes. */
  readonly size: number;
  /** Unix seconds. */
  readonly created: number;
  /** uuid of the parent of a differencing disk. */
  readonly base?: string;
  /** Numbers of its MiBs with data, or that differ from the parent. */
  readonly blocks: readonly number[];
  readonly blockAt: (index: number) => Buffer;
}

/** A dynamic or a differencing VHD. */
export function* vhdFile(disk: VhdDisk): Generator<Buffer> {
  const footer = makeFooter(disk);
  const entries = Math.ceil(disk.size / BLOCK_SIZE);
  const blocks = dataBlocks(disk);
  yield footer;
  yield makeHeader(disk, entries);
  yield makeTable(blocks, entries);
  for (const block of blocks) {
    yield Buffer.alloc(SECTOR, 0xff);
    yield disk.blockAt(2 * block);
    yield disk.blockAt(2 * block + 1);
  }
  yield footer;
}

function dataBlocks({ blocks }: VhdDisk): readonly number[] {
  return [...new Set(blocks.map((index) => index >> 1))];
}

function makeTable(blocks: readonly number[], entries: number): Buffer {
  const table = Buffer.alloc(Math.ceil((entries * 4) / SECTOR) * SECTOR, 0xff);
  let sector = (TABLE_AT + table.length) / SECTOR;
  for (let entry = 0; entry < entries; entry++)
    table.writeUInt32BE(UNUSED, entry * 4);
  for (const block of blocks) {
    table.writeUInt32BE(sector, block * 4);
    sector += 1 + BLOCK_SIZE / SECTOR;
  }
  return table;
}

function makeFooter({ uuid, size, created, base }: VhdDisk): Buffer {
  const footer = Buffer.alloc(SECTOR);
  footer.write("conectix", 0, "latin1");
  footer.writeUInt32BE(2, 8);
  footer.writeUInt32BE(0x00010000, 12);
  footer.writeBigUInt64BE(BigInt(HEADER_AT), 16);
  footer.writeUInt32BE(Math.max(0, created - VHD_EPOCH), 24);
  footer.write("tap\0", 28, "latin1");
  footer.writeUInt32BE(0x00010003, 32);
  footer.writeBigUInt64BE(BigInt(size), 40);
  footer.writeBigUInt64BE(BigInt(size), 48);
  footer.writeUInt32BE(geometry(size), 56);
  footer.writeUInt32BE(base === undefined ? 3 : 4, 60);
  uuidBytes(uuid).copy(footer, 68);
  footer.writeUInt32BE(checksum(footer), 64);
  return footer;
}

function makeHeader({ base, created }: VhdDisk, entries: number): Buffer {
  const header = Buffer.alloc(1024);
  header.write("cxsparse", 0, "latin1");
  header.writeBigUInt64BE(0xffffffffffffffffn, 8);
  header.writeBigUInt64BE(BigInt(TABLE_AT), 16);
  header.writeUInt32BE(0x00010000, 24);
  header.writeUInt32BE(entries, 28);
  header.writeUInt32BE(BLOCK_SIZE, 32);
  if (base !== undefined) {
    uuidBytes(base).copy(header, 40);
    header.writeUInt32BE(Math.max(0, created - VHD_EPOCH), 56);
    Buffer.from(`${base}.vhd`, "utf16le").swap16().copy(header, 64);
  }
  header.writeUInt32BE(checksum(header), 36);
  return header;
}

/** Cylinders, heads and sectors as one word; the maximum for large disks. */
function geometry(size: number): number {
  const cylinders = Math.min(65535, Math.floor(size / SECTOR / (16 * 255)));
  return ((cylinders << 16) | (16 << 8) | 255) >>> 0;
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replace(/-/g, ""), "hex");
}

/** The complement of the sum of all bytes, with the field itself as zero. */
function checksum(bytes: Buffer): number {
  return ~bytes.reduce((sum, byte) => sum + byte, 0) >>> 0;
}
