import type { ReadableDisk } from "../model/readable-disk.js";
import { readGpt } from "./gpt.js";
import { readMbr } from "./mbr.js";
import type { Partition } from "./partition.js";

/** @returns undefined if the disk has no partition table @throws FileSystemError */
export async function readPartitionTable(
  disk: ReadableDisk,
): Promise<Partition[] | undefined> {
  if (disk.size < 1024) return undefined;
  return (await readGpt(disk)) ?? (await readMbr(disk));
}
