import { invalidSource } from "../foreign/foreign-error.js";

/*
 * VMware Virtual Disk Format 5.0, hosted sparse extents: monolithicSparse and
 * streamOptimized. Integers are little endian, offsets are sectors.
 */
export const SECTOR = 512;
const MAGIC = 0x564d_444b;
/** The grain directory is behind the grains. */
const AT_END = 0xffff_ffff_ffff_ffffn;
/** Largest disk, in sectors: 62 TiB is VMware's limit. */
const MAX_CAPACITY = 64 * 2 ** 31;
/** Sectors of a grain at most: 128 are usual. */
const MAX_GRAIN = 2048;
/** Sectors before the first grain: tables of 1 TiB with a copy. */
const MAX_OVERHEAD = 256 * 1024;

export interface SparseHeader {
  /** Sectors. */
  readonly capacity: number;
  /** Sectors of a grain. */
  readonly grain: number;
  /** Entries of a grain table. */
  readonly entries: number;
  /** Sector; undefined: behind the grains. */
  readonly directory: number | undefined;
  /** Sectors before the first grain or marker. */
  readonly overhead: number;
  readonly isCompressed: boolean;
  /** Grains are preceded by markers. */
  readonly hasMarkers: boolean;
}

/** @param bytes a sector @throws RepositoryError `source-invalid` */
export function parseSparseHeader(bytes: Buffer): SparseHeader {
  if (bytes.readUInt32LE(0) !== MAGIC)
    throw invalid("it does not begin as a sparse VMDK");
  const version = bytes.readUInt32LE(4);
  if (version < 1 || version > 3)
    throw invalid(`version ${version}, only 1 to 3 are supported`);
  const flags = bytes.readUInt32LE(8);
  const isTested = (flags & 1) !== 0;
  if (isTested && bytes.toString("latin1", 73, 77) !== "\n \r\n")
    throw invalid("line ends were converted: it was not copied as binary data");
  const compression = bytes.readUInt16LE(77);
  const isCompressed = (flags & 0x1_0000) !== 0;
  if (isCompressed && compression !== 1)
    throw invalid(`compression ${compression}, only 1 (deflate) is supported`);
  const directory = bytes.readBigUInt64LE(56);
  return {
    capacity: numberAt(bytes, 12, { least: 1, most: MAX_CAPACITY }),
    grain: checkGrain(numberAt(bytes, 20, { least: 8, most: MAX_GRAIN })),
    entries: checkEntries(bytes.readUInt32LE(44)),
    directory: directory === AT_END ? undefined : Number(directory),
    overhead: numberAt(bytes, 64, { least: 1, most: MAX_OVERHEAD }),
    isCompressed,
    hasMarkers: (flags & 0x2_0000) !== 0,
  };
}

function numberAt(
  bytes: Buffer,
  at: number,
  { least, most }: { least: number; most: number },
): number {
  const value = bytes.readBigUInt64LE(at);
  if (value < least || value > most)
    throw invalid(`${value} at byte ${at}, ${least} to ${most} are allowed`);
  return Number(value);
}

function checkGrain(grain: number): number {
  if ((grain & (grain - 1)) === 0) return grain;
  throw invalid(`grains of ${grain} sectors`);
}

function checkEntries(entries: number): number {
  if (entries >= 1 && entries <= 4096) return entries;
  throw invalid(`grain tables of ${entries} entries`);
}

/** RepositoryError `source-invalid` about a VMDK. */
export function invalid(reason: string) {
  return invalidSource(`VMDK: ${reason}`);
}
