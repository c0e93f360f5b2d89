import { FileSystemError } from "../model/file-system-error.js";
import { partOf, type ReadableDisk } from "../model/readable-disk.js";
import { contentTypeOf, isBootSector, windowsTypeOf } from "./content-type.js";
import { readLogicalVolumes } from "./lvm.js";
import { readPartitionTable } from "./partition-table.js";
import type { Partition } from "./partition.js";

/** Id of the only volume of a disk without a partition table. */
const WHOLE_DISK = "disk";

/** A partition, a logical volume, or a disk that has neither. */
export interface Volume {
  /** Unique on the disk: `1`, `disk`, or `1/group/name` of a logical volume. */
  readonly id: string;
  readonly name: string;
  /** Bytes. */
  readonly start: number | undefined;
  readonly size: number;
  /** Of the partition table; undefined of logical volumes and whole disks. */
  readonly partitionType: string | undefined;
  /** `ext`, `ntfs`, `xfs`, `vfat`, the name of what is not supported, or undefined if it is not known. */
  readonly content: string | undefined;
  /** @throws FileSystemError */
  open(): ReadableDisk;
}

/** The volumes of a disk that may have a file system. @throws FileSystemError */
export async function readVolumes(disk: ReadableDisk): Promise<Volume[]> {
  if (disk.size === 0) return [];
  const content = await contentTypeOf(disk);
  const table = isBootSector(content)
    ? undefined
    : await readPartitionTable(disk);
  if (table === undefined)
    return volumesIn(disk, { id: WHOLE_DISK, name: "", content });
  const volumes: Volume[] = [];
  for (const partition of table) {
    const part = partOf(disk, partition);
    volumes.push(
      ...(await volumesIn(part, {
        id: String(partition.number),
        name: partition.name,
        partition,
        content: windowsTypeOf(partition.type) ?? (await contentTypeOf(part)),
      })),
    );
  }
  return volumes;
}

interface Container {
  readonly id: string;
  readonly name: string;
  readonly partition?: Partition;
  readonly content: string | undefined;
}

/** The volume itself, or the logical volumes in it. */
async function volumesIn(
  disk: ReadableDisk,
  { id, name, partition, content }: Container,
): Promise<Volume[]> {
  if (content !== "lvm2")
    return [
      {
        id,
        name,
        start: partition?.offset,
        size: disk.size,
        partitionType: partition?.type,
        content,
        open: () => disk,
      },
    ];
  const found: Volume[] = [];
  for (const volume of await readLogicalVolumes(disk)) {
    const { group, name: own, size } = volume;
    found.push({
      id: `${id}/${group}/${own}`,
      name: `${group}/${own}`,
      start: undefined,
      size,
      partitionType: undefined,
      content: await contentOf(volume),
      open: () => volume.open(),
    });
  }
  return found;
}

/** A volume that cannot be read does not hide the others. */
async function contentOf(volume: {
  open(): ReadableDisk;
}): Promise<string | undefined> {
  try {
    return await contentTypeOf(volume.open());
  } catch (error) {
    if (error instanceof FileSystemError) return undefined;
    throw error;
  }
}

/** @throws FileSystemError `file-missing` */
export function findVolume(
  volumes: readonly Volume[],
  id: string | undefined,
): Volume {
  const found =
    id === undefined && volumes.length === 1
      ? volumes[0]
      : volumes.find((one) => one.id === (id ?? WHOLE_DISK));
  if (found === undefined)
    throw new FileSystemError(
      "file-missing",
      id === undefined
        ? "the disk has several partitions: name one of them"
        : `the disk has no partition ${id}`,
    );
  return found;
}
