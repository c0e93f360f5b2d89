import { uint64 } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";

/** Of parts of a record that end with a number that detects writes that were cut. */
const STRIDE = 512;

/** Types of attributes. */
export const ATTRIBUTE = {
  information: 0x10,
  list: 0x20,
  volumeName: 0x60,
  volumeInformation: 0x70,
  data: 0x80,
  indexRoot: 0x90,
  indexAllocation: 0xa0,
  reparsePoint: 0xc0,
} as const;
const END = 0xffffffff;

export interface NtfsAttribute {
  readonly type: number;
  readonly name: string;
  readonly isCompressed: boolean;
  readonly isEncrypted: boolean;
  /** Of a resident attribute. */
  readonly value: Buffer | undefined;
  /** Of others. Sizes in bytes, and only in the first part of an attribute. */
  readonly firstCluster: number;
  readonly runList: Buffer;
  readonly size: number;
  readonly initialized: number;
  /** Clusters of a unit of compression, as a power of two. */
  readonly unitBits: number;
}

export interface NtfsRecord {
  readonly number: number;
  readonly isFolder: boolean;
  readonly attributes: readonly NtfsAttribute[];
}

/** @throws FileSystemError `file-system-damaged` */
export function parseRecord(bytes: Buffer, number: number): NtfsRecord {
  const record = repaired(bytes, "FILE");
  const flags = record.readUInt16LE(22);
  if ((flags & 1) === 0) throw damaged(`record ${number} is not in use`);
  const attributes: NtfsAttribute[] = [];
  for (let at = record.readUInt16LE(20); at + 8 <= record.length;) {
    const type = record.readUInt32LE(at);
    if (type === END) break;
    const length = record.readUInt32LE(at + 4);
    if (length < 24 || at + length > record.length)
      throw damaged(`an attribute of record ${number} is damaged`);
    attributes.push(parseAttribute(record.subarray(at, at + length)));
    at += length;
  }
  return { number, isFolder: (flags & 2) !== 0, attributes };
}

function parseAttribute(bytes: Buffer): NtfsAttribute {
  const isResident = bytes[8] === 0;
  const nameAt = bytes.readUInt16LE(10);
  const flags = bytes.readUInt16LE(12);
  const common = {
    type: bytes.readUInt32LE(0),
    name: bytes.toString("utf16le", nameAt, nameAt + 2 * bytes[9]!),
    isCompressed: (flags & 0xff) !== 0,
    isEncrypted: (flags & 0x4000) !== 0,
  };
  if (isResident) {
    const start = bytes.readUInt16LE(20);
    const end = start + bytes.readUInt32LE(16);
    if (end > bytes.length) throw damaged("an attribute is cut");
    const value = bytes.subarray(start, end);
    const { length } = value;
    const none = { firstCluster: 0, runList: Buffer.alloc(0), unitBits: 0 };
    return { ...common, ...none, value, size: length, initialized: length };
  }
  const firstCluster = uint64(bytes, 16);
  const isFirst = firstCluster === 0;
  return {
    ...common,
    value: undefined,
    firstCluster,
    runList: bytes.subarray(bytes.readUInt16LE(32)),
    unitBits: bytes.readUInt16LE(34),
    size: isFirst ? uint64(bytes, 48) : 0,
    initialized: isFirst ? uint64(bytes, 56) : 0,
  };
}

/**
 * A copy of a record whose last bytes of each sector are what they were.
 * @throws FileSystemError `file-system-damaged`
 */
export function repaired(bytes: Buffer, signature: string): Buffer {
  if (bytes.toString("latin1", 0, 4) !== signature)
    throw damaged(`a record has no signature ${signature}`);
  const record = Buffer.from(bytes);
  const at = record.readUInt16LE(4);
  const count = record.readUInt16LE(6);
  if (count === 0 || (count - 1) * STRIDE > record.length)
    throw damaged("a record has a wrong size");
  const expected = record.readUInt16LE(at);
  for (let i = 1; i < count; i++) {
    const end = i * STRIDE - 2;
    if (record.readUInt16LE(end) !== expected)
      throw damaged("a record was written in part only");
    record.writeUInt16LE(record.readUInt16LE(at + i * 2), end);
  }
  return record;
}

/** Clusters that follow each other; no first one: zeros. */
export interface ClusterRun {
  readonly cluster: number | undefined;
  readonly count: number;
}

/** @throws FileSystemError `file-system-damaged` */
export function* decodeRunList(bytes: Buffer): Generator<ClusterRun> {
  let cluster = 0;
  for (let at = 0; at < bytes.length && bytes[at] !== 0;) {
    const lengthSize = bytes[at]! & 15;
    const offsetSize = bytes[at]! >> 4;
    const end = at + 1 + lengthSize + offsetSize;
    if (
      lengthSize === 0 ||
      lengthSize > 6 ||
      offsetSize > 6 ||
      end > bytes.length
    )
      throw damaged("the list of runs of a file is damaged");
    const count = bytes.readUIntLE(at + 1, lengthSize);
    if (offsetSize > 0)
      cluster += bytes.readIntLE(at + 1 + lengthSize, offsetSize);
    if (cluster < 0) throw damaged("a run begins before the disk");
    yield { cluster: offsetSize === 0 ? undefined : cluster, count };
    at = end;
  }
}

/** 100 ns since 1601, as milliseconds since 1970. */
export function ntfsTime(bytes: Buffer, at: number): number {
  const EPOCH = 11_644_473_600_000n;
  const time = Number(bytes.readBigUInt64LE(at) / 10_000n - EPOCH);
  return Math.abs(time) > 8.64e15 ? 0 : time;
}

/** The number of a record from a reference to it, which has a sequence number above. */
export function recordNumber(bytes: Buffer, at: number): number {
  return bytes.readUIntLE(at, 6);
}
