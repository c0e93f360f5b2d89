import { walkFiles } from "../../src/files/archive/walk-files.js";
import { zipArchive } from "../../src/files/archive/zip-archive.js";
import { listFolder } from "../../src/files/list-folder.js";
import { FileSystemError } from "../../src/files/model/file-system-error.js";
import {
  checkRange,
  type ReadableDisk,
} from "../../src/files/model/readable-disk.js";
import { openFileSystem } from "../../src/files/open-file-system.js";
import { problemOf } from "../../src/files/problem-of.js";
import { readVolumes } from "../../src/files/volumes/volume.js";
import { readFixture } from "../file-system-fixtures.js";

const FIXTURES = ["gpt", "mbr", "lvm", "fat12", "ext2", "ext4-inline", "xfs"];
const NTFS = "ntfs";
const images = [...FIXTURES, NTFS].map((name) => readFixture(name).disk);
const CHANGE = 6;
/** Bytes of the beginning of a disk, where most of its structures are. */
const FIRST = 256 * 1024;
/** Bytes that are read of an image. */
const MAX_BYTES = 2 ** 17;

/** The number of an image, and changes: 4 bytes offset, 2 bytes of content. */
export const seeds = [
  ...images.map((_, i) => Buffer.from([i])),
  Buffer.from([4, 0x38, 4, 0, 0, 1, 0xef]),
  Buffer.from([7, 0x0d, 0, 0, 0, 0x80, 0]),
];

/** Reads an image with changed bytes. Only the documented errors are allowed. */
export async function run(input: Buffer): Promise<void> {
  const image = images[(input[0] ?? 0) % images.length]!;
  const disk = withChanges(image, input.subarray(1));
  try {
    for (const volume of await readVolumes(disk)) {
      const fileSystem = await openFileSystem(volume);
      await listFolder(await fileSystem.root(), { limit: 20 });
      let size = 0;
      for await (const { length } of zipArchive(walkFiles(fileSystem, ["/"]))) {
        size += length;
        if (size > MAX_BYTES) break;
      }
    }
  } catch (error) {
    if (error instanceof FileSystemError) return;
    if (problemOf(error) === undefined) throw error;
  }
}

function withChanges(image: ReadableDisk, changes: Buffer): ReadableDisk {
  let reads = 0;
  return {
    size: image.size,
    async read(offset, length) {
      checkRange(image, offset, length);
      // A real disk is slow: the fuzzer does not wait for all of a file that is all of the disk.
      if (++reads > 600)
        throw new FileSystemError("file-limit", "too many reads");
      const bytes = Buffer.from(await image.read(offset, length));
      for (let at = 0; at + CHANGE <= changes.length; at += CHANGE) {
        const place = (changes.readUInt32LE(at) % FIRST) - offset;
        if (place >= 0 && place + 2 <= length)
          changes.copy(bytes, place, at + 4, at + CHANGE);
      }
      return bytes;
    },
  };
}
