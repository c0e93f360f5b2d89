import type { ReadableDisk } from "../model/readable-disk.js";
import type { Partition } from "./partition.js";

const SECTOR = 512;
const TABLE = 446;
const ENTRY = 16;
/** CHS and LBA, and that of Linux. */
const EXTENDED: ReadonlySet<number> = new Set([0x05, 0x0f, 0x85]);
/** Logical partitions at most. */
const MAX_LOGICAL = 128;

interface MbrEntry {
  readonly type: number;
  /** Sectors. */
  readonly start: number;
  readonly count: number;
}

/** Partitions of a master boot record with its extended partitions. @returns undefined if there is none */
export async function readMbr(
  disk: ReadableDisk,
): Promise<Partition[] | undefined> {
  const entries = entriesOf(await disk.read(0, SECTOR));
  if (entries === undefined) return undefined;
  const isWithin = ({ start }: MbrEntry) =>
    start > 0 && start * SECTOR < disk.size;
  const found: Partition[] = [];
  for (const [i, entry] of entries.entries()) {
    if (entry.type === 0 || entry.count === 0) continue;
    // The boot code of a file system looks otherwise.
    if (!isWithin(entry)) return undefined;
    if (!EXTENDED.has(entry.type)) found.push(toPartition(entry, i + 1, 0));
  }
  const extended = entries.find(
    (entry) => EXTENDED.has(entry.type) && isWithin(entry),
  );
  if (extended !== undefined)
    for await (const one of logicalOf(disk, extended.start)) found.push(one);
  return found.length === 0 && extended === undefined ? undefined : found;
}

/** @param base sector of the extended partition */
async function* logicalOf(
  disk: ReadableDisk,
  base: number,
): AsyncGenerator<Partition, void> {
  const seen = new Set<number>();
  let sector = base;
  for (let number = 5; number < 5 + MAX_LOGICAL; number++) {
    // A chain that returns to a record before would have no end.
    if (seen.has(sector) || (sector + 1) * SECTOR > disk.size) return;
    seen.add(sector);
    const entries = entriesOf(await disk.read(sector * SECTOR, SECTOR));
    const [logical, next] = entries ?? [];
    if (
      logical !== undefined &&
      logical.type !== 0 &&
      (sector + logical.start) * SECTOR < disk.size
    )
      yield toPartition(logical, number, sector);
    if (next === undefined || !EXTENDED.has(next.type)) return;
    sector = base + next.start;
  }
}

function toPartition(
  { type, start, count }: MbrEntry,
  number: number,
  base: number,
): Partition {
  return {
    number,
    offset: (base + start) * SECTOR,
    size: count * SECTOR,
    type: `0x${type.toString(16).padStart(2, "0")}`,
    name: "",
  };
}

/** @returns undefined if the sector has no table */
function entriesOf(sector: Buffer): MbrEntry[] | undefined {
  if (sector.readUInt16LE(510) !== 0xaa55) return undefined;
  const entries: MbrEntry[] = [];
  for (let i = 0; i < 4; i++) {
    const at = TABLE + i * ENTRY;
    if ((sector[at]! & 0x7f) !== 0) return undefined;
    entries.push({
      type: sector[at + 4]!,
      start: sector.readUInt32LE(at + 8),
      count: sector.readUInt32LE(at + 12),
    });
  }
  return entries;
}
