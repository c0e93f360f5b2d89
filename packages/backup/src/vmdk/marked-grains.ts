import type { DiskPart } from "../foreign/foreign-vm.js";
import type { ByteStream } from "../vhd/byte-stream.js";
import { inflateGrain, maxCompressed, toPart } from "./inflate-grain.js";
import { SECTOR, invalid, type SparseHeader } from "./sparse-header.js";

/** Sectors of all tables, directories and the footer: twice those of 64 TiB. */
const MAX_METADATA = 32 * 1024 * 1024;
const END_OF_STREAM = 0;
const FOOTER = 3;

/**
 * The grains of a streamOptimized VMDK whose directory is at its end: each has a
 * marker that says where it belongs.
 * @throws RepositoryError `source-invalid`
 */
export async function* readMarkedGrains(
  stream: ByteStream,
  header: SparseHeader,
): AsyncGenerator<DiskPart, void> {
  const { capacity, grain, overhead, hasMarkers, isCompressed } = header;
  if (!hasMarkers || !isCompressed)
    throw invalid("a directory at the end, without compressed grains");
  await stream.skip((overhead - 1) * SECTOR);
  let next = 0;
  let metadata = 0;
  for (;;) {
    const marker = await stream.read(SECTOR);
    const size = marker.readUInt32LE(8);
    const value = Number(marker.readBigUInt64LE(0));
    if (size > 0) {
      if (value < next || value >= capacity || value % grain !== 0)
        throw invalid(`a grain of sector ${value} after those before ${next}`);
      const data = await readCompressed(stream, marker, { size, header });
      yield toPart(inflateGrain(data, value, header), value, header);
      next = value + grain;
      continue;
    }
    const type = marker.readUInt32LE(12);
    if (type === END_OF_STREAM) return;
    metadata += value;
    if (type > FOOTER || metadata > MAX_METADATA)
      throw invalid(`a marker of type ${type} and ${value} sectors`);
    await stream.skip(value * SECTOR);
  }
}

/** Offset of the data in the marker of a grain. */
const DATA_AT = 12;

/** Data begins in the sector of its marker, and ends with a whole sector. */
export async function readCompressed(
  stream: ByteStream,
  marker: Buffer,
  { size, header }: { size: number; header: SparseHeader },
): Promise<Buffer> {
  if (size > maxCompressed(header))
    throw invalid(`a compressed grain of ${size} bytes`);
  const inMarker = SECTOR - DATA_AT;
  if (size <= inMarker) return marker.subarray(DATA_AT, DATA_AT + size);
  const sectors = Math.ceil((size - inMarker) / SECTOR);
  const rest = await stream.read(sectors * SECTOR);
  return Buffer.concat([marker.subarray(DATA_AT), rest]).subarray(0, size);
}
