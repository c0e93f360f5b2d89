import { roundUp } from "../vhd/vhd-format.js";
import type { Range } from "../write/block-runs.js";
import type { RangedStream, StreamPart } from "../write/block-source.js";
import type { ConvertedImage } from "./converted-image.js";

/*
 * QEMU's format qcow2, version 3, without backing file. Integers are big endian.
 * The clusters with data follow one another as they arrive, behind all tables.
 */
const CLUSTER_BITS = 16;
const CLUSTER = 1 << CLUSTER_BITS;
/** Entries of 8 bytes in a cluster. */
const ENTRIES = CLUSTER / 8;
/** References of 2 bytes that are counted in a cluster. */
const COUNTS = CLUSTER / 2;
const HEADER_SIZE = 104;
/** The cluster is used once, and may be written. */
const COPIED = 1n << 63n;

/** Where a range of the disk is in the file. */
interface Place extends Range {
  /** First cluster of the file. */
  readonly cluster: number;
}

interface Layout {
  /** Bytes of the disk. */
  readonly size: number;
  /** The range of the disk that each table covers, ascending: tables without data are left out. */
  readonly tables: ReadonlyMap<number, readonly Place[]>;
  /** Entries of the first table. */
  readonly l1Entries: number;
  /** First clusters of each structure. */
  readonly l2: number;
  readonly refcountTable: number;
  readonly refcountBlocks: number;
  readonly data: number;
  /** Clusters of the file. */
  readonly total: number;
}

/** Reads the beginning of a disk, by which the size of the image is known. @throws RepositoryError `source-invalid` */
export async function openQcow2Image(
  disk: RangedStream,
  signal?: AbortSignal,
): Promise<ConvertedImage> {
  const parts = disk.parts(signal);
  const first = await parts.next();
  const layout = planLayout(disk);
  return {
    length: layout.total * CLUSTER,
    async *content() {
      yield* writeTables(layout);
      if (first.done === true) return;
      yield* padded(first.value);
      for await (const part of parts) yield* padded(part);
    },
  };
}

function planLayout({ size: bytes, ranges }: RangedStream): Layout {
  const size = roundUp(bytes, 512);
  const l1Entries = Math.ceil(size / (CLUSTER * ENTRIES));
  const tables = new Map<number, Place[]>();
  let data = 0;
  for (const range of ranges) {
    const table = Math.floor(range.offset / (CLUSTER * ENTRIES));
    const places = tables.get(table) ?? [];
    places.push({ ...range, cluster: data });
    tables.set(table, places);
    data += Math.ceil(range.length / CLUSTER);
  }
  const l2 = 1 + Math.ceil(l1Entries / ENTRIES);
  const before = l2 + tables.size;
  const { blocks, tableClusters } = planCounts(before + data);
  return {
    size,
    tables,
    l1Entries,
    l2,
    refcountTable: before,
    refcountBlocks: before + tableClusters,
    data: before + tableClusters + blocks,
    total: before + tableClusters + blocks + data,
  };
}

/** Clusters of the counts of all clusters, their own included. @param others number of the other ones */
function planCounts(others: number) {
  const counts = { blocks: 1, tableClusters: 1 };
  for (;;) {
    const total = others + counts.blocks + counts.tableClusters;
    const blocks = Math.ceil(total / COUNTS);
    if (blocks === counts.blocks) return counts;
    counts.blocks = blocks;
    counts.tableClusters = Math.ceil(blocks / ENTRIES);
  }
}

function* writeTables(layout: Layout): Generator<Buffer, void> {
  const { tables, l1Entries, l2, refcountTable, refcountBlocks, data } = layout;
  yield writeHeader(layout);
  const indexes = [...tables.keys()].sort((a, b) => a - b);
  const l1 = Buffer.alloc((l2 - 1) * CLUSTER);
  indexes.forEach((index, i) => writeEntry(l1, index, l2 + i));
  yield l1.subarray(0, roundUp(l1Entries * 8, CLUSTER));
  for (const index of indexes) {
    const table = Buffer.alloc(CLUSTER);
    for (const { offset, length, cluster } of tables.get(index)!) {
      const start = (offset / CLUSTER) % ENTRIES;
      for (let i = 0; i * CLUSTER < length; i++)
        writeEntry(table, start + i, data + cluster + i);
    }
    yield table;
  }
  const counted = Buffer.alloc((refcountBlocks - refcountTable) * CLUSTER);
  for (let i = 0; refcountBlocks + i < data; i++)
    counted.writeBigUInt64BE(BigInt(refcountBlocks + i) << 16n, i * 8);
  yield counted;
  yield* writeCounts(layout);
}

/** Every cluster is used once. */
function* writeCounts({
  refcountBlocks,
  data,
  total,
}: Layout): Generator<Buffer, void> {
  for (let block = 0; block < data - refcountBlocks; block++) {
    const counts = Buffer.alloc(CLUSTER);
    const used = Math.min(COUNTS, total - block * COUNTS);
    for (let i = 0; i < used; i++) counts.writeUInt16BE(1, i * 2);
    yield counts;
  }
}

function writeHeader({
  size,
  l1Entries,
  refcountTable,
  refcountBlocks,
}: Layout): Buffer {
  const header = Buffer.alloc(CLUSTER);
  header.write("QFI\u00fb", 0, "latin1");
  header.writeUInt32BE(3, 4);
  header.writeUInt32BE(CLUSTER_BITS, 20);
  header.writeBigUInt64BE(BigInt(size), 24);
  header.writeUInt32BE(l1Entries, 36);
  header.writeBigUInt64BE(BigInt(CLUSTER), 40);
  header.writeBigUInt64BE(BigInt(refcountTable) << 16n, 48);
  header.writeUInt32BE(refcountBlocks - refcountTable, 56);
  header.writeUInt32BE(4, 96); // counts of 2^4 bits
  header.writeUInt32BE(HEADER_SIZE, 100);
  return header;
}

function writeEntry(table: Buffer, index: number, cluster: number): void {
  table.writeBigUInt64BE((BigInt(cluster) << 16n) | COPIED, index * 8);
}

/** The end of a disk fills its cluster with zeros. */
function* padded({ bytes }: StreamPart): Generator<Buffer, void> {
  yield bytes;
  const rest = bytes.length % CLUSTER;
  if (rest > 0) yield Buffer.alloc(CLUSTER - rest);
}
