import type { DiskPart } from "../foreign/foreign-vm.js";
import type { ByteStream } from "../vhd/byte-stream.js";
import { inflateGrain, maxCompressed, toPart } from "./inflate-grain.js";
import { readCompressed } from "./marked-grains.js";
import { SECTOR, invalid, type SparseHeader } from "./sparse-header.js";

/** Between two grains, in sectors: room that was given up. */
const MAX_GAP = 64 * 1024;
/** Entry of a grain that is zero; 0: one that was never written. */
const ZERO_GRAIN = 1;

interface ListedHeader extends SparseHeader {
  readonly directory: number;
}

/**
 * The grains of a sparse VMDK whose tables are before its grains (monolithicSparse,
 * and streamOptimized as qemu-img writes it). @throws RepositoryError `source-invalid`
 */
export async function* readListedGrains(
  stream: ByteStream,
  header: ListedHeader,
): AsyncGenerator<DiskPart, void> {
  const { overhead, grain, capacity } = header;
  const metadata = Buffer.concat([
    Buffer.alloc(SECTOR),
    await stream.read((overhead - 1) * SECTOR),
  ]);
  for (const { index, at } of listGrains(metadata, header)) {
    const gap = at * SECTOR - stream.position;
    if (gap < 0 || gap > MAX_GAP * SECTOR)
      throw invalid(
        "its grains are not in the order of the disk: convert it (qemu-img convert -O vmdk -o subformat=streamOptimized)",
      );
    await stream.skip(gap);
    const sector = index * grain;
    yield toPart(await readGrain(stream, sector, header), sector, header);
    if (stream.position > (capacity + MAX_GAP) * 3 * SECTOR)
      throw invalid("it is longer than its disk");
  }
}

interface ListedGrain {
  /** On the disk. */
  readonly index: number;
  /** Sector in the file. */
  readonly at: number;
}

/** @param metadata the file up to its first grain */
function* listGrains(
  metadata: Buffer,
  { capacity, grain, entries, directory }: ListedHeader,
): Generator<ListedGrain> {
  const grains = Math.ceil(capacity / grain);
  const tables = Math.ceil(grains / entries);
  let left = metadata.length / 4;
  for (let table = 0; table < tables; table++) {
    const start = entryAt(metadata, directory * SECTOR + table * 4);
    if (start === 0) continue;
    const count = Math.min(entries, grains - table * entries);
    left -= count;
    // Otherwise a small file could list more grains than any disk has.
    if (left < 0) throw invalid("its grain tables overlap");
    for (let i = 0; i < count; i++) {
      const at = entryAt(metadata, start * SECTOR + i * 4);
      if (at > ZERO_GRAIN) yield { index: table * entries + i, at };
    }
  }
}

function entryAt(metadata: Buffer, at: number): number {
  if (at + 4 > metadata.length)
    throw invalid("a grain table behind the first grain");
  return metadata.readUInt32LE(at);
}

async function readGrain(
  stream: ByteStream,
  sector: number,
  header: ListedHeader,
): Promise<Buffer> {
  const { isCompressed, grain } = header;
  // The last grain of a disk may be cut.
  const size = Math.min(grain, header.capacity - sector) * SECTOR;
  if (!isCompressed) return stream.read(size);
  const marker = await stream.read(SECTOR);
  const length = marker.readUInt32LE(8);
  if (Number(marker.readBigUInt64LE(0)) !== sector || length === 0)
    throw invalid(`the grain of sector ${sector} has the marker of another`);
  if (length > maxCompressed(header))
    throw invalid(`a compressed grain of ${length} bytes`);
  const data = await readCompressed(stream, marker, { size: length, header });
  return inflateGrain(data, sector, header);
}
