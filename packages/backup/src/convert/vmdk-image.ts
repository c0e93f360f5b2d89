import { promisify } from "node:util";
import { constants, deflate } from "node:zlib";
import { roundUp } from "../vhd/vhd-format.js";
import { SECTOR, invalid } from "../vmdk/sparse-header.js";
import type { RangedStream } from "../write/block-source.js";
import type { ConvertedImage } from "./converted-image.js";

/*
 * VMware Virtual Disk Format 5.0, streamOptimized: compressed grains, each table behind its
 * grains. Integers are little endian, offsets are sectors.
 */
/** Sectors of a grain. */
const GRAIN = 128;
const GRAIN_SIZE = GRAIN * SECTOR;
/** Entries of a grain table. */
const ENTRIES = 512;
/** Sectors before the first grain. */
const OVERHEAD = 128;
const DESCRIPTOR_SECTORS = 20;
const AT_END = 0xffff_ffff_ffff_ffffn;
const GRAIN_TABLE = 1;
const GRAIN_DIRECTORY = 2;
const FOOTER = 3;
const END_OF_STREAM = 0;

const compress = promisify(deflate);

/** Its length is known at its end. */
export function openVmdkImage(
  disk: RangedStream,
  signal?: AbortSignal,
): ConvertedImage {
  return {
    length: undefined,
    content: () => new VmdkWriter(disk.size).write(disk, signal),
  };
}

class VmdkWriter {
  /** Sectors of the disk. */
  readonly #capacity: number;
  readonly #directory: Buffer;
  /** Entries of the grain table that is filled. */
  #table = Buffer.alloc(ENTRIES * 4);
  /** Its index; undefined: it has no entry. */
  #index: number | undefined;
  /** Sectors that were written. */
  #position = 0;

  constructor(size: number) {
    this.#capacity = roundUp(size, SECTOR) / SECTOR;
    const tables = Math.ceil(this.#capacity / (GRAIN * ENTRIES));
    this.#directory = Buffer.alloc(roundUp(tables * 4, SECTOR));
  }

  async *write(
    disk: RangedStream,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Buffer, void> {
    yield this.#place(this.#beginning());
    for await (const { offset, bytes, release } of disk.parts(signal)) {
      // Readers look for the grains in their order.
      if (!disk.isOrdered)
        throw invalid("the blocks of the disk do not arrive in order");
      const grains = await Promise.all(grainsOf(bytes).map(deflated));
      release?.();
      for (const [i, data] of grains.entries()) {
        if (data === undefined) continue;
        const sector = offset / SECTOR + i * GRAIN;
        yield* this.#endTableBefore(sector);
        const entry = (sector / GRAIN) % ENTRIES;
        this.#table.writeUInt32LE(this.#position, entry * 4);
        yield this.#place(grainOf(sector, data));
      }
    }
    yield* this.#endTable();
    yield* this.#end();
  }

  /** Counts what is written next. */
  #place(bytes: Buffer): Buffer {
    this.#position += bytes.length / SECTOR;
    return bytes;
  }

  *#endTableBefore(sector: number): Generator<Buffer, void> {
    const index = Math.floor(sector / (GRAIN * ENTRIES));
    if (index !== this.#index) yield* this.#endTable();
    this.#index = index;
  }

  *#endTable(): Generator<Buffer, void> {
    if (this.#index === undefined) return;
    yield this.#place(markerOf(GRAIN_TABLE, this.#table.length / SECTOR));
    this.#directory.writeUInt32LE(this.#position, this.#index * 4);
    yield this.#place(this.#table);
    this.#table = Buffer.alloc(ENTRIES * 4);
    this.#index = undefined;
  }

  *#end(): Generator<Buffer, void> {
    const sectors = this.#directory.length / SECTOR;
    yield this.#place(markerOf(GRAIN_DIRECTORY, sectors));
    const directory = BigInt(this.#position);
    yield this.#place(this.#directory);
    yield this.#place(markerOf(FOOTER, 1));
    yield this.#place(this.#header(directory));
    yield this.#place(markerOf(END_OF_STREAM, 0));
  }

  #beginning(): Buffer {
    const bytes = Buffer.alloc(OVERHEAD * SECTOR);
    this.#header(AT_END).copy(bytes);
    bytes.write(this.#descriptor(), SECTOR, "latin1");
    return bytes;
  }

  #header(directory: bigint): Buffer {
    const header = Buffer.alloc(SECTOR);
    header.write("KDMV", 0, "latin1");
    header.writeUInt32LE(3, 4);
    header.writeUInt32LE(0x3_0001, 8); // line ends to be tested, compressed, markers
    header.writeBigUInt64LE(BigInt(this.#capacity), 12);
    header.writeBigUInt64LE(BigInt(GRAIN), 20);
    header.writeBigUInt64LE(1n, 28);
    header.writeBigUInt64LE(BigInt(DESCRIPTOR_SECTORS), 36);
    header.writeUInt32LE(ENTRIES, 44);
    header.writeBigUInt64LE(directory, 56);
    header.writeBigUInt64LE(BigInt(OVERHEAD), 64);
    header.write("\n \r\n", 73, "latin1");
    header.writeUInt16LE(1, 77); // deflate
    return header;
  }

  #descriptor(): string {
    const heads = 255;
    const sectors = 63;
    const cylinders = Math.ceil(this.#capacity / (heads * sectors));
    return `# Disk DescriptorFile
version=1
CID=fffffffe
parentCID=ffffffff
createType="streamOptimized"

# Extent description
RW ${this.#capacity} SPARSE "disk.vmdk"

# The Disk Data Base
#DDB

ddb.virtualHWVersion = "7"
ddb.geometry.cylinders = "${cylinders}"
ddb.geometry.heads = "${heads}"
ddb.geometry.sectors = "${sectors}"
ddb.adapterType = "lsilogic"
`;
  }
}

/** The last grain of a disk may be shorter. */
function grainsOf(bytes: Buffer): Buffer[] {
  const grains: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += GRAIN_SIZE)
    grains.push(bytes.subarray(at, at + GRAIN_SIZE));
  return grains;
}

const ZEROS = Buffer.alloc(GRAIN_SIZE);

/** @returns undefined: it is zero */
async function deflated(grain: Buffer): Promise<Buffer | undefined> {
  if (grain.equals(ZEROS.subarray(0, grain.length))) return undefined;
  const whole =
    grain.length === GRAIN_SIZE
      ? grain
      : Buffer.concat([grain, ZEROS.subarray(grain.length)]);
  return compress(whole, { level: constants.Z_BEST_SPEED });
}

function grainOf(sector: number, data: Buffer): Buffer {
  const bytes = Buffer.alloc(roundUp(12 + data.length, SECTOR));
  bytes.writeBigUInt64LE(BigInt(sector), 0);
  bytes.writeUInt32LE(data.length, 8);
  data.copy(bytes, 12);
  return bytes;
}

/** @param sectors of the structure that follows */
function markerOf(type: number, sectors: number): Buffer {
  const marker = Buffer.alloc(SECTOR);
  marker.writeBigUInt64LE(BigInt(sectors), 0);
  marker.writeUInt32LE(type, 12);
  return marker;
}
