import { randomUUID } from "node:crypto";
import { RepositoryError } from "../errors.js";

/*
 * Virtual Hard Disk Image Format Specification, version 1.0, dynamic and
 * differencing disks. Integers are big endian.
 */
export const SECTOR_SIZE = 512;
export const FOOTER_SIZE = 512;
export const HEADER_SIZE = 1024;
/** Entry of the block allocation table for a block without data. */
export const UNUSED = 0xffff_ffff;
/** Block size that is written, in bytes: XAPI uses no other. */
export const VHD_BLOCK_SIZE = 2 * 1024 * 1024;
/** Largest disk of the format, in bytes: the limit of its geometry. */
export const MAX_VHD_SIZE = 2040 * 1024 ** 3;

const FOOTER_COOKIE = Buffer.from("conectix", "latin1");
const HEADER_COOKIE = Buffer.from("cxsparse", "latin1");
const VERSION = 0x0001_0000;
const FOOTER_CHECKSUM = 64;
const HEADER_CHECKSUM = 36;
/** Seconds from 1970 to 2000. */
const EPOCH_S = 946_684_800;

export interface VhdFooter {
  readonly type: "dynamic" | "differencing";
  /** Bytes of the disk. */
  readonly size: number;
  /** Offset of the header in bytes. */
  readonly headerOffset: number;
  readonly uuid: string;
}

export interface VhdHeader {
  /** Offset of the block allocation table in bytes. */
  readonly tableOffset: number;
  readonly entries: number;
  readonly blockSize: number;
}

/** Bytes of a stream that show whether a VHD follows. */
export const START_SIZE = 12;

/** @param bytes the first 12 or more @throws RepositoryError `source-invalid` */
export function checkStart(bytes: Buffer): void {
  if (!bytes.subarray(0, 8).equals(FOOTER_COOKIE))
    throw invalid(describeOther(bytes));
}

/** @throws RepositoryError `source-invalid` */
export function parseFooter(bytes: Buffer): VhdFooter {
  checkStart(bytes);
  check(bytes, FOOTER_CHECKSUM, "footer");
  if (bytes.readUInt32BE(12) !== VERSION) throw invalid("unknown version");
  const type = bytes.readUInt32BE(60);
  if (type !== 3 && type !== 4)
    throw invalid(`type ${type}, only dynamic and differencing`);
  return {
    type: type === 3 ? "dynamic" : "differencing",
    size: integerAt(bytes, 48),
    headerOffset: integerAt(bytes, 16),
    uuid: bytes.toString("hex", 68, 84),
  };
}

/** @throws RepositoryError `source-invalid` */
export function parseHeader(bytes: Buffer): VhdHeader {
  if (!bytes.subarray(0, 8).equals(HEADER_COOKIE)) throw invalid("no header");
  check(bytes, HEADER_CHECKSUM, "header");
  const blockSize = bytes.readUInt32BE(32);
  const isPower = (blockSize & (blockSize - 1)) === 0;
  if (!isPower || blockSize < 65_536 || blockSize > 64 * 1024 * 1024)
    throw invalid(`blocks of ${blockSize} bytes`);
  return {
    tableOffset: integerAt(bytes, 16),
    entries: bytes.readUInt32BE(28),
    blockSize,
  };
}

/** Bytes of the bitmap before the data of a block. */
export function bitmapSize(blockSize: number): number {
  return roundUp(blockSize / SECTOR_SIZE / 8, SECTOR_SIZE);
}

/** The smallest multiple of `unit` that is not less than `value`. */
export function roundUp(value: number, unit: number): number {
  return Math.ceil(value / unit) * unit;
}

/**
 * Footer of a dynamic disk, whose copy the file begins with, followed by the header.
 * @param size bytes of the disk
 * @param now milliseconds since the epoch
 */
export function encodeFooter(size: number, now: number): Buffer {
  const bytes = Buffer.alloc(FOOTER_SIZE);
  FOOTER_COOKIE.copy(bytes);
  bytes.writeUInt32BE(2, 8); // features: reserved, always set
  bytes.writeUInt32BE(VERSION, 12);
  bytes.writeBigUInt64BE(BigInt(FOOTER_SIZE), 16);
  bytes.writeUInt32BE(Math.floor(now / 1000) - EPOCH_S, 24);
  // The creator of XenServer: readers then rely on the size, not on the geometry.
  bytes.write("tap\0", 28, "latin1");
  bytes.writeUInt32BE(VERSION, 32);
  bytes.writeBigUInt64BE(BigInt(size), 40);
  bytes.writeBigUInt64BE(BigInt(size), 48);
  writeGeometry(bytes, size);
  bytes.writeUInt32BE(3, 60);
  bytes.write(randomUUID().replaceAll("-", ""), 68, "hex");
  bytes.writeUInt32BE(checksum(bytes, FOOTER_CHECKSUM), FOOTER_CHECKSUM);
  return bytes;
}

/** Header of a dynamic disk. @param entries number of entries of the block allocation table */
export function encodeHeader(entries: number): Buffer {
  const bytes = Buffer.alloc(HEADER_SIZE);
  HEADER_COOKIE.copy(bytes);
  bytes.fill(0xff, 8, 16);
  bytes.writeBigUInt64BE(BigInt(FOOTER_SIZE + HEADER_SIZE), 16);
  bytes.writeUInt32BE(VERSION, 24);
  bytes.writeUInt32BE(entries, 28);
  bytes.writeUInt32BE(VHD_BLOCK_SIZE, 32);
  bytes.writeUInt32BE(checksum(bytes, HEADER_CHECKSUM), HEADER_CHECKSUM);
  return bytes;
}

/** Cylinders, heads and sectors as the specification calculates them. */
function writeGeometry(bytes: Buffer, size: number): void {
  const total = Math.min(Math.floor(size / SECTOR_SIZE), 65_535 * 16 * 255);
  let sectors = 17;
  let tracks = Math.floor(total / sectors);
  let heads = Math.max(4, Math.floor((tracks + 1023) / 1024));
  if (total >= 65_535 * 16 * 63) {
    sectors = 255;
    heads = 16;
    tracks = Math.floor(total / sectors);
  } else {
    if (tracks >= heads * 1024 || heads > 16) {
      sectors = 31;
      heads = 16;
      tracks = Math.floor(total / sectors);
    }
    if (tracks >= heads * 1024) {
      sectors = 63;
      heads = 16;
      tracks = Math.floor(total / sectors);
    }
  }
  bytes.writeUInt16BE(Math.floor(tracks / heads), 56);
  bytes.writeUInt8(heads, 58);
  bytes.writeUInt8(sectors, 59);
}

function check(bytes: Buffer, at: number, what: string): void {
  if (bytes.readUInt32BE(at) !== checksum(bytes, at))
    throw invalid(`wrong checksum of the ${what}`);
}

/** The complement of the sum of all bytes but those of the checksum. */
function checksum(bytes: Buffer, at: number): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i++)
    if (i < at || i >= at + 4) sum += bytes[i]!;
  return ~sum >>> 0;
}

function integerAt(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64BE(at));
  if (!Number.isSafeInteger(value)) throw invalid("a number is too large");
  return value;
}

/** XAPI may report an error in the body of a response with status 200. */
function describeOther(bytes: Buffer): string {
  const match = /^HTTP\/1\.[01] (\d{3})/.exec(bytes.toString("latin1", 0, 64));
  return match === null
    ? "it does not begin as a VHD"
    : `the server reports error ${match[1]} in the body of its response`;
}

/** RepositoryError `source-invalid` about a VHD. */
export function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `VHD: ${reason}`);
}
