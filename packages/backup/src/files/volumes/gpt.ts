import { guidOf, uint64 } from "../model/disk-fields.js";
import { damaged } from "../model/file-system-error.js";
import type { ReadableDisk } from "../model/readable-disk.js";
import type { Partition } from "./partition.js";

const SIGNATURE = "EFI PART";
/** Sizes of sectors that disks have. */
const SECTORS = [512, 4096];
const MAX_ENTRIES = 1024;
const MIN_ENTRY = 128;
const MAX_ENTRY = 4096;
const EMPTY = "00000000-0000-0000-0000-000000000000";

/** Source: UEFI specification 2.10, 5.3. The copy at the end of the disk is used if the first one is damaged. @returns undefined if there is none */
export async function readGpt(
  disk: ReadableDisk,
): Promise<Partition[] | undefined> {
  for (const sector of SECTORS)
    for (const at of [sector, disk.size - sector]) {
      if (at < sector || at + sector > disk.size) continue;
      const header = await disk.read(at, sector);
      if (header.toString("latin1", 0, 8) === SIGNATURE)
        return readEntries(disk, header, sector);
    }
  return undefined;
}

async function readEntries(
  disk: ReadableDisk,
  header: Buffer,
  sector: number,
): Promise<Partition[]> {
  const count = header.readUInt32LE(80);
  const size = header.readUInt32LE(84);
  if (count > MAX_ENTRIES || size < MIN_ENTRY || size > MAX_ENTRY)
    throw damaged("the partition table (GPT) is damaged");
  const start = uint64(header, 72) * sector;
  const bytes = await disk.read(start, count * size);
  const found: Partition[] = [];
  for (let i = 0; i < count; i++) {
    const entry = bytes.subarray(i * size, (i + 1) * size);
    const type = guidOf(entry, 0);
    const first = uint64(entry, 32);
    const last = uint64(entry, 40);
    if (type === EMPTY || last < first || first * sector >= disk.size) continue;
    found.push({
      number: i + 1,
      offset: first * sector,
      size: (last - first + 1) * sector,
      type,
      name: entry.toString("utf16le", 56, 128).replace(/\0.*$/s, ""),
    });
  }
  return found;
}
