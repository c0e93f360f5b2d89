/**
 * A file in the root folder, with an ASCII name. Up to 13 characters fit into one
 * entry of a long name.
 */
interface FatFile {
  readonly name: string;
  readonly content: Buffer;
}

interface FatOptions {
  readonly label: string;
  /** Seeds the serial number of the volume. */
  readonly serial: number;
}

const SECTOR = 512;
/** 4 MiB: the minimum that some storage types allocate, with enough clusters for FAT16. */
const SECTORS = 8192;
const FATS = 2;
const FAT_SECTORS = 32;
const ROOT_ENTRIES = 512;
const ENTRY = 32;
const FAT_START = 1;
const ROOT_START = FAT_START + FATS * FAT_SECTORS;
const DATA_START = ROOT_START + (ROOT_ENTRIES * ENTRY) / SECTOR;
const LAST = 0xffff;

/** Size of an image, in bytes. */
export const FAT_SIZE = SECTORS * SECTOR;

/** Maximum total size of the files, each rounded up to sectors, in bytes. */
export const FAT_CAPACITY = (SECTORS - DATA_START) * SECTOR;

/**
 * A disk image with one FAT16 volume from its first sector on, without a
 * partition table: what guests look for as a config drive.
 *
 * ```
 * sector 0     1        33       65            97
 *        boot  FAT      FAT copy root folder   data, one sector a cluster
 * ```
 *
 * Microsoft's FAT specification 1.03, 2000-12-06.
 */
export function writeFatImage(
  files: readonly FatFile[],
  { label, serial }: FatOptions,
): Buffer {
  const image = Buffer.alloc(FAT_SIZE);
  writeBootSector(image, label, serial);
  const fat = new Uint16Array(FAT_SECTORS * (SECTOR / 2));
  fat.set([0xfff8, LAST]);
  const root = [labelEntry(label)];
  let cluster = 2;
  for (const [index, { name, content }] of files.entries()) {
    const count = Math.ceil(content.length / SECTOR);
    root.push(...fileEntries(name, { index, cluster, size: content.length }));
    for (let i = 0; i < count; i++)
      fat[cluster + i] = i === count - 1 ? LAST : cluster + i + 1;
    content.copy(image, (DATA_START + cluster - 2) * SECTOR);
    cluster += count;
  }
  for (let copy = 0; copy < FATS; copy++)
    fat.forEach((value, i) => {
      const start = (FAT_START + copy * FAT_SECTORS) * SECTOR;
      image.writeUInt16LE(value, start + i * 2);
    });
  Buffer.concat(root).copy(image, ROOT_START * SECTOR);
  return image;
}

function writeBootSector(image: Buffer, label: string, serial: number): void {
  image.set([0xeb, 0x3c, 0x90]);
  image.write("MSDOS5.0", 3, "latin1");
  image.writeUInt16LE(SECTOR, 11);
  image.writeUInt8(1, 13); // sectors a cluster
  image.writeUInt16LE(FAT_START, 14);
  image.writeUInt8(FATS, 16);
  image.writeUInt16LE(ROOT_ENTRIES, 17);
  image.writeUInt16LE(SECTORS, 19);
  image.writeUInt8(0xf8, 21); // a fixed disk
  image.writeUInt16LE(FAT_SECTORS, 22);
  image.writeUInt16LE(32, 24); // sectors a track
  image.writeUInt16LE(64, 26); // heads
  image.writeUInt8(0x80, 36); // drive number
  image.writeUInt8(0x29, 38); // the next three fields are valid
  image.writeUInt32LE(serial >>> 0, 39);
  image.write(label.padEnd(11).slice(0, 11), 43, "latin1");
  image.write("FAT16   ", 54, "latin1");
  image.set([0x55, 0xaa], SECTOR - 2);
}

function labelEntry(label: string): Buffer {
  const entry = Buffer.alloc(ENTRY);
  entry.write(label.padEnd(11).slice(0, 11), 0, "latin1");
  entry.writeUInt8(0x08, 11);
  return entry;
}

interface FilePosition {
  readonly index: number;
  readonly cluster: number;
  readonly size: number;
}

/** Entries of the long name, followed by the entry of the file with a generated short name. */
function fileEntries(
  name: string,
  { index, cluster, size }: FilePosition,
): Buffer[] {
  const short = `FILE${index}`.padEnd(11);
  const entry = Buffer.alloc(ENTRY);
  entry.write(short, 0, "latin1");
  entry.writeUInt8(0x20, 11);
  entry.writeUInt16LE(0x21, 24); // 1 January 1980, the first valid day
  entry.writeUInt16LE(size === 0 ? 0 : cluster, 26);
  entry.writeUInt32LE(size, 28);
  return [longNameEntry(name, short), entry];
}

/** Offsets of the 13 UTF-16 characters of an entry. */
const LONG_NAME_OFFSETS = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
const LONGEST_NAME = LONG_NAME_OFFSETS.length * 2;

/** One entry of a long name, which needs one or two: `network-config` has 14 characters. */
function longNameEntry(name: string, short: string): Buffer {
  const length = LONG_NAME_OFFSETS.length;
  if (name.length > LONGEST_NAME) throw new RangeError(`${name} is too long`);
  const parts = Math.ceil(name.length / length);
  const entries = Array.from({ length: parts }, (_, i) => {
    const part = name.slice(i * length, (i + 1) * length);
    const order = i + 1 + (i === parts - 1 ? 0x40 : 0);
    return longNamePart(part, order, checksum(short));
  });
  return Buffer.concat(entries.toReversed());
}

function longNamePart(part: string, order: number, sum: number): Buffer {
  const entry = Buffer.alloc(ENTRY);
  entry.writeUInt8(order, 0);
  entry.writeUInt8(0x0f, 11);
  entry.writeUInt8(sum, 13);
  LONG_NAME_OFFSETS.forEach((offset, i) => {
    const end = i === part.length ? 0 : 0xffff;
    entry.writeUInt16LE(i < part.length ? part.charCodeAt(i) : end, offset);
  });
  return entry;
}

/** Checksum of the short name, which links the parts of a long name to their entry. */
function checksum(short: string): number {
  let sum = 0;
  for (const byte of Buffer.from(short, "latin1"))
    sum = (((sum & 1) << 7) + (sum >> 1) + byte) & 0xff;
  return sum;
}
