import type { DiskPart } from "../foreign/foreign-vm.js";
import type { ByteStream } from "../vhd/byte-stream.js";
import { readListedGrains } from "./listed-grains.js";
import { readMarkedGrains } from "./marked-grains.js";
import { SECTOR, invalid, parseSparseHeader } from "./sparse-header.js";

/**
 * Reads a streamOptimized or monolithicSparse VMDK from its beginning to its last
 * grain. Its grains must be in the order of the disk, as in every streamOptimized one.
 * @param size bytes of the disk; the VMDK may be smaller
 * @returns the grains with data
 * @throws RepositoryError `source-invalid`
 */
export async function* readVmdk(
  stream: ByteStream,
  size: number,
): AsyncGenerator<DiskPart, void> {
  const header = parseSparseHeader(await stream.read(SECTOR));
  const bytes = header.capacity * SECTOR;
  if (bytes > size)
    throw invalid(`a disk of ${bytes} bytes, ${size} were announced`);
  const grains =
    header.directory === undefined
      ? readMarkedGrains(stream, header)
      : readListedGrains(stream, { ...header, directory: header.directory });
  yield* grains;
}
