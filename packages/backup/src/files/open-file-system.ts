import { ExtFileSystem } from "./ext/ext-file-system.js";
import { FatFileSystem } from "./fat/fat-file-system.js";
import { unsupported } from "./model/file-system-error.js";
import type { FileSystem } from "./model/file-system.js";
import type { ReadableDisk } from "./model/readable-disk.js";
import { NtfsFileSystem } from "./ntfs/ntfs-file-system.js";
import type { Volume } from "./volumes/volume.js";
import { XfsFileSystem } from "./xfs/xfs-file-system.js";

/** By the content of a volume. */
const READERS: Readonly<
  Record<string, ((disk: ReadableDisk) => Promise<FileSystem>) | undefined>
> = {
  ext: (disk) => ExtFileSystem.open(disk),
  ntfs: (disk) => NtfsFileSystem.open(disk),
  vfat: (disk) => FatFileSystem.open(disk),
  xfs: (disk) => XfsFileSystem.open(disk),
};

/** @throws FileSystemError `file-system-unsupported` names what the volume has */
export async function openFileSystem(volume: Volume): Promise<FileSystem> {
  const disk = volume.open();
  const { content } = volume;
  const open = content === undefined ? undefined : READERS[content];
  if (open !== undefined) return open(disk);
  throw unsupported(
    content === undefined
      ? "no file system was recognized"
      : `${content} is not supported`,
  );
}
