/** VHD blocks are of 2 MiB, behind a bitmap of one sector: a bit for each sector, the most significant first. */
export const BLOCK_SIZE = 2 * 2 ** 20;
export const SECTOR = 512;
const HEADER_AT = SECTOR;
export const HEADER_SIZE = 1024;
/** In the table of blocks: the file has none. */
export const UNUSED = 0xffffffff;
export const DYNAMIC = 3;
export const DIFFERENCING = 4;
/** VHD counts seconds from 2000. */
const VHD_EPOCH = 946684800;

export interface VhdDisk {
  readonly uuid: string;
  /** Bytes. */
  readonly size: number;
  /** Unix seconds. */
  readonly created: number;
  /** uuid of the parent: a differencing disk. */
  readonly base?: string;
}

interface Locator {
  readonly platform: string;
  readonly path: Buffer;
}

/** Locators of the parent, in the form of Windows and in that of XAPI's tools. */
export function parentLocators(base: string): readonly Locator[] {
  const windows = Buffer.from(`.\\${base}.vhd`, "utf16le");
  const url = Buffer.from(`file://./${base}.vhd`);
  return [
    { platform: "MacX", path: url },
    { platform: "W2ku", path: windows },
  ];
}

/** Offset of the table of blocks: behind the header and a sector for each locator. */
export function tableAt({ base }: VhdDisk): number {
  const locators = base === undefined ? 0 : parentLocators(base).length;
  return HEADER_AT + HEADER_SIZE + locators * SECTOR;
}

/** Entries of the block allocation table: one for each 2 MiB. */
export function tableEntries({ size }: VhdDisk): number {
  return Math.ceil(size / BLOCK_SIZE);
}

/** The footer of a dynamic or differencing VHD (Microsoft's VHD specification 1.0); its copy begins the file. */
export function makeFooter({ uuid, size, created, base }: VhdDisk): Buffer {
  const footer = Buffer.alloc(SECTOR);
  footer.write("conectix", 0, "latin1");
  footer.writeUInt32BE(2, 8);
  footer.writeUInt32BE(0x00010000, 12);
  footer.writeBigUInt64BE(BigInt(HEADER_AT), 16);
  footer.writeUInt32BE(vhdTime(created), 24);
  footer.write("tap\0", 28, "latin1");
  footer.writeUInt32BE(0x00010003, 32);
  footer.writeBigUInt64BE(BigInt(size), 40);
  footer.writeBigUInt64BE(BigInt(size), 48);
  footer.writeUInt32BE(geometry(size), 56);
  footer.writeUInt32BE(base === undefined ? DYNAMIC : DIFFERENCING, 60);
  uuidBytes(uuid).copy(footer, 68);
  footer.writeUInt32BE(checksum(footer), 64);
  return footer;
}

/** The dynamic disk header, with the locator of the parent of a differencing VHD. */
export function makeHeader(disk: VhdDisk): Buffer {
  const { base, created } = disk;
  const header = Buffer.alloc(HEADER_SIZE);
  header.write("cxsparse", 0, "latin1");
  header.writeBigUInt64BE(0xffffffffffffffffn, 8);
  header.writeBigUInt64BE(BigInt(tableAt(disk)), 16);
  header.writeUInt32BE(0x00010000, 24);
  header.writeUInt32BE(tableEntries(disk), 28);
  header.writeUInt32BE(BLOCK_SIZE, 32);
  if (base !== undefined) {
    uuidBytes(base).copy(header, 40);
    header.writeUInt32BE(vhdTime(created), 56);
    Buffer.from(`${base}.vhd`, "utf16le").swap16().copy(header, 64);
    for (const [i, { platform, path }] of parentLocators(base).entries()) {
      const at = 576 + i * 24;
      header.write(platform, at, "latin1");
      header.writeUInt32BE(SECTOR, at + 4);
      header.writeUInt32BE(path.length, at + 8);
      const offset = HEADER_AT + HEADER_SIZE + i * SECTOR;
      header.writeBigUInt64BE(BigInt(offset), at + 16);
    }
  }
  header.writeUInt32BE(checksum(header), 36);
  return header;
}

/** The complement of the sum of all bytes, with the field itself as zero. */
export function checksum(bytes: Buffer): number {
  return ~bytes.reduce((sum, byte) => sum + byte, 0) >>> 0;
}

function vhdTime(seconds: number): number {
  return Math.max(0, seconds - VHD_EPOCH);
}

/** Cylinders, heads and sectors as one word; the maximum for large disks. */
function geometry(size: number): number {
  const cylinders = Math.min(65535, Math.floor(size / SECTOR / (16 * 255)));
  return ((cylinders << 16) | (16 << 8) | 255) >>> 0;
}

function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replace(/-/g, ""), "hex");
}
