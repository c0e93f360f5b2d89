/** Sizes and offsets from here on are stored in fields of 64 bits. */
export const ZIP64_FROM = 0xffffffff;
/** Of the record at the end. */
const MAX_ENTRIES = 0xffff;
const UTF8_NAME = 0x0800;
const SIZES_FOLLOW = 0x0008;
const STORED = 0;
const DEFLATED = 8;
/** 4.5, for Zip64; made by Unix. */
const VERSION = 45;
const MADE_BY = (3 << 8) | VERSION;

export interface ZipEntry {
  readonly name: Buffer;
  /** A file or link; folders have no content, and so nothing follows them. */
  readonly isCompressed: boolean;
  /** Type and permissions of Unix. */
  readonly mode: number;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  /** Whether sizes have 64 bits: decided before they are known. */
  readonly isLarge: boolean;
}

/** What is known behind the content. Sizes and offsets in bytes. */
export interface ZipContent {
  readonly crc: number;
  readonly size: number;
  readonly stored: number;
}

/** Source: APPNOTE.TXT 6.3.10 of PKWARE, 4.3.7. */
export function localHeader(entry: ZipEntry): Buffer {
  const { name, isLarge } = entry;
  // Zeros, as the sizes are not known.
  const large = isLarge ? field(0x0001, [u64(0), u64(0)]) : Buffer.alloc(0);
  const extra = Buffer.concat([large, timeField(entry)]);
  const size = isLarge ? ZIP64_FROM : 0;
  return Buffer.concat([
    u32(0x04034b50),
    u16(VERSION, flagsOf(entry), methodOf(entry), ...dosTime(entry.modified)),
    u32(0, size, size),
    u16(name.length, extra.length),
    name,
    extra,
  ]);
}

/** 4.3.9 */
export function dataDescriptor(
  { isLarge }: ZipEntry,
  { crc, stored, size }: ZipContent,
): Buffer {
  const sizes = isLarge ? [u64(stored), u64(size)] : [u32(stored, size)];
  return Buffer.concat([u32(0x08074b50, crc), ...sizes]);
}

/** 4.3.12. @param offset of the local header */
export function centralHeader(
  entry: ZipEntry,
  { crc, stored, size }: ZipContent,
  offset: number,
): Buffer {
  const numbers = [size, stored, offset];
  const large = numbers.filter((value) => value >= ZIP64_FROM);
  const extra = Buffer.concat([
    large.length > 0 ? field(0x0001, large.map(u64)) : Buffer.alloc(0),
    timeField(entry),
  ]);
  const short = (value: number) => Math.min(value, ZIP64_FROM);
  return Buffer.concat([
    u32(0x02014b50),
    u16(MADE_BY, VERSION, flagsOf(entry), methodOf(entry)),
    u16(...dosTime(entry.modified)),
    u32(crc, short(stored), short(size)),
    u16(entry.name.length, extra.length, 0, 0, 0),
    u32(entry.mode * 65_536, short(offset)),
    entry.name,
    extra,
  ]);
}

/** 4.3.14 to 4.3.16. */
export function zipEnd({
  entries,
  offset,
  size,
}: {
  readonly entries: number;
  /** Of the central directory, and its size. */
  readonly offset: number;
  readonly size: number;
}): Buffer {
  const isLarge =
    entries >= MAX_ENTRIES || offset >= ZIP64_FROM || size >= ZIP64_FROM;
  const count = Math.min(entries, MAX_ENTRIES);
  const end = Buffer.concat([
    u32(0x06054b50),
    u16(0, 0, count, count),
    u32(Math.min(size, ZIP64_FROM), Math.min(offset, ZIP64_FROM)),
    u16(0),
  ]);
  if (!isLarge) return end;
  return Buffer.concat([
    u32(0x06064b50),
    u64(44),
    u16(MADE_BY, VERSION),
    u32(0, 0),
    ...[entries, entries, size, offset].map(u64),
    u32(0x07064b50, 0),
    u64(offset + size),
    u32(1),
    end,
  ]);
}

function flagsOf({ isCompressed }: ZipEntry): number {
  return UTF8_NAME | (isCompressed ? SIZES_FOLLOW : 0);
}

function methodOf({ isCompressed }: ZipEntry): number {
  return isCompressed ? DEFLATED : STORED;
}

/** The time in seconds since the epoch, as Info-ZIP stores it. */
function timeField({ modified }: ZipEntry): Buffer {
  const seconds = Math.floor(modified / 1000);
  if (seconds < 0 || seconds > 0x7fffffff) return Buffer.alloc(0);
  return field(0x5455, [Buffer.from([1]), u32(seconds)]);
}

/** Time and date in UTC, from 1980 on. */
function dosTime(modified: number): [number, number] {
  const date = new Date(modified);
  const year = date.getUTCFullYear();
  if (!(year >= 1980 && year <= 2107)) return [0, 0x21];
  return [
    (date.getUTCHours() << 11) |
      (date.getUTCMinutes() << 5) |
      (date.getUTCSeconds() >> 1),
    ((year - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate(),
  ];
}

function field(id: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u16(id, content.length), content]);
}

function u16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt16LE(value, 2 * i);
  return bytes;
}

function u32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries())
    bytes.writeUInt32LE(value >>> 0, 4 * i);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
