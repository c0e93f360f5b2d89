import { inflateRawSync } from "node:zlib";
import { invalidSource } from "../foreign/foreign-error.js";
import type { ImageFile } from "./image-file.js";
import type { FindPlace, Place, SparseImage } from "./sparse-image.js";

/*
 * QEMU's format qcow2, versions 2 and 3 (docs/interop/qcow2 of QEMU). Integers are big endian.
 */
const HEADER = 104;
/** Largest first table, as in QEMU, in bytes. */
const MAX_L1 = 32 * 1024 ** 2;
/** Largest factor by which deflate compresses. */
const MAX_RATIO = 1032;
const SECTOR = 512;
/** Bits 9 to 55 of an entry: an offset. */
const OFFSET = 0x00ff_ffff_ffff_fe00n;
const COMPRESSED = 1n << 62n;

/** Features without which an image cannot be read; bit 0 only says that counts of references are not up to date. */
const INCOMPATIBLE: readonly (readonly [bit: bigint, name: string])[] = [
  [1n << 1n, "it is marked as corrupt (qemu-img check -r all)"],
  [1n << 2n, "its data is in another file"],
  [1n << 3n, "it is compressed by zstd"],
  [1n << 4n, "its tables have subclusters"],
];

/** @throws RepositoryError `source-invalid` */
export async function openQcow2File(file: ImageFile): Promise<SparseImage> {
  const header = await file.read(0, HEADER);
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3) throw invalid(`version ${version}`);
  checkFeatures(header, version);
  const clusterBits = header.readUInt32BE(20);
  if (clusterBits < 9 || clusterBits > 21)
    throw invalid(`clusters of 2^${clusterBits} bytes`);
  const cluster = 2 ** clusterBits;
  const size = numberAt(header, 24);
  const tableUnits = cluster / 8;
  const tables = Math.ceil(size / (cluster * tableUnits));
  if (tables > header.readUInt32BE(36) || tables * 8 > MAX_L1)
    throw invalid(`a first table of ${header.readUInt32BE(36)} entries`);
  const l1 = await file.read(numberAt(header, 40), tables * 8);
  return new Qcow2Image(file, { size, clusterBits, l1, version });
}

function checkFeatures(header: Buffer, version: number): void {
  if (header.readBigUInt64BE(8) !== 0n)
    throw invalid(
      "it has a backing file: convert it first (qemu-img convert -O qcow2)",
    );
  if (header.readUInt32BE(32) !== 0) throw invalid("it is encrypted");
  if (version === 2) return;
  const features = header.readBigUInt64BE(72);
  let known = 1n;
  for (const [bit, name] of INCOMPATIBLE) {
    known |= bit;
    if ((features & bit) !== 0n)
      throw invalid(`${name}: convert it first (qemu-img convert -O qcow2)`);
  }
  if ((features & ~known) !== 0n)
    throw invalid(`unknown features 0x${features.toString(16)}`);
}

interface Layout {
  readonly size: number;
  readonly clusterBits: number;
  readonly l1: Buffer;
  readonly version: number;
}

class Qcow2Image implements SparseImage {
  readonly size: number;
  readonly unit: number;
  readonly tableUnits: number;
  readonly #file: ImageFile;
  readonly #layout: Layout;

  constructor(file: ImageFile, layout: Layout) {
    this.size = layout.size;
    this.unit = 2 ** layout.clusterBits;
    this.tableUnits = this.unit / 8;
    this.#file = file;
    this.#layout = layout;
  }

  openTable(index: number): Promise<FindPlace> | undefined {
    const at = this.#layout.l1.readBigUInt64BE(index * 8) & OFFSET;
    return at === 0n ? undefined : this.#readTable(Number(at));
  }

  async #readTable(at: number): Promise<FindPlace> {
    const table = await this.#file.read(at, this.unit);
    return (unit) => this.#toPlace(table.readBigUInt64BE(unit * 8));
  }

  #toPlace(entry: bigint): Place | undefined {
    if ((entry & COMPRESSED) !== 0n) {
      const at = Number(entry & (this.#compressedBit - 1n));
      const bytes = Math.ceil(this.unit / MAX_RATIO);
      return { at, isCompressed: true, bytes };
    }
    const isZero = this.#layout.version > 2 && (entry & 1n) !== 0n;
    const at = entry & OFFSET;
    return isZero || at === 0n
      ? undefined
      : { at: Number(at), isCompressed: false, bytes: this.unit };
  }

  /** The lowest bit of the number of sectors of a compressed cluster. */
  get #compressedBit(): bigint {
    return 1n << BigInt(62 - (this.#layout.clusterBits - 8));
  }

  /** The length of the data is not needed: deflate ends by itself, within twice a cluster. */
  async inflate({ at }: Place, index: number): Promise<Buffer> {
    const data = await this.#file.readUpTo(at, this.unit + 2 * SECTOR);
    try {
      const bytes = inflateRawSync(data, { maxOutputLength: this.unit });
      if (bytes.length === this.unit) return bytes;
    } catch (error) {
      throw invalid(`compressed cluster ${index}: ${(error as Error).message}`);
    }
    throw invalid(`compressed cluster ${index} is incomplete`);
  }
}

function numberAt(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64BE(at));
  if (Number.isSafeInteger(value)) return value;
  throw invalid(`${value} at byte ${at}`);
}

function invalid(reason: string) {
  return invalidSource(`qcow2: ${reason}`);
}
