import { invalidSource } from "../foreign/foreign-error.js";
import type { ImageFile } from "./image-file.js";
import type { FindPlace, Place, SparseImage } from "./sparse-image.js";

/*
 * Virtual Hard Disk v2 (MS-VHDX 1.0). Integers are little endian; GUIDs as they are stored.
 */
const KIB = 1024;
const MIB = 1024 * KIB;
const HEADERS = [64 * KIB, 128 * KIB];
const REGIONS = [192 * KIB, 256 * KIB];
const REGION_BAT = "6677c22d23f600429d64115e9bfd4a08";
const REGION_METADATA = "06a27c8b90479a4bb8fe575f050f886e";
const FILE_PARAMETERS = "3767a1ca36fa434db3b633f0aa44e76b";
const DISK_SIZE = "2442a52f1bcd7648b2115dbed83bf4b8";
const SECTOR_SIZE = "1dbf41816fa90947ba47f233a8faab5f";
const MAX_ENTRIES = 2047;
const MIN_BLOCK = MIB;
const MAX_BLOCK = 256 * MIB;
/** Largest table of blocks, in bytes: a disk of 2 TiB has 16 MiB with blocks of 1 MiB. */
const MAX_BAT = 32 * MIB;
/** States of a block: in the file; the others are zeros, or never written. */
const PRESENT = 6;
const PARTIAL = 7;

interface Region {
  readonly at: number;
  readonly length: number;
}

/** @throws RepositoryError `source-invalid` */
export async function openVhdxFile(file: ImageFile): Promise<SparseImage> {
  await checkLog(file);
  const regions = await readRegions(file);
  const metadata = await readMetadata(file, regionOf(regions, REGION_METADATA));
  const { size, block, sector } = metadata;
  const blocks = Math.ceil(size / block);
  /** After the entries of this number of blocks, one entry is for a bitmap. */
  const ratio = (2 ** 23 * sector) / block;
  const entries = blocks + Math.floor((blocks - 1) / ratio);
  const bat = regionOf(regions, REGION_BAT);
  if (entries * 8 > Math.min(bat.length, MAX_BAT))
    throw invalid(`a table of ${entries} blocks`);
  const table = await file.read(bat.at, entries * 8);
  return new VhdxImage(metadata, table, ratio);
}

/** The log has changes that were not applied, if its GUID is not zero. */
async function checkLog(file: ImageFile): Promise<void> {
  let latest: { readonly sequence: bigint; readonly log: string } | undefined;
  for (const at of HEADERS) {
    const header = await file.read(at, 80);
    if (header.toString("latin1", 0, 4) !== "head") continue;
    const sequence = header.readBigUInt64LE(8);
    if (latest === undefined || sequence > latest.sequence)
      latest = { sequence, log: header.toString("hex", 48, 64) };
  }
  if (latest === undefined) throw invalid("no header");
  if (!/^0+$/.test(latest.log))
    throw invalid(
      "it was not closed: convert it first (qemu-img convert -O vhdx)",
    );
}

async function readRegions(file: ImageFile): Promise<Map<string, Region>> {
  for (const start of REGIONS) {
    const table = await file.readUpTo(start, 64 * KIB);
    if (table.toString("latin1", 0, 4) !== "regi") continue;
    const count = table.readUInt32LE(8);
    if (count > MAX_ENTRIES) throw invalid(`${count} regions`);
    const regions = new Map<string, Region>();
    for (let i = 0; i < count; i++) {
      const at = 16 + i * 32;
      regions.set(table.toString("hex", at, at + 16), {
        at: Number(table.readBigUInt64LE(at + 16)),
        length: table.readUInt32LE(at + 24),
      });
    }
    return regions;
  }
  throw invalid("no table of regions");
}

function regionOf(regions: ReadonlyMap<string, Region>, guid: string): Region {
  const region = regions.get(guid);
  if (region === undefined) throw invalid("a region is missing");
  return region;
}

interface Metadata {
  readonly size: number;
  readonly block: number;
  readonly sector: number;
}

async function readMetadata(
  file: ImageFile,
  region: Region,
): Promise<Metadata> {
  const bytes = await file.read(region.at, 64 * KIB);
  if (bytes.toString("latin1", 0, 8) !== "metadata")
    throw invalid("no metadata");
  const count = bytes.readUInt16LE(10);
  if (count > MAX_ENTRIES) throw invalid(`${count} entries of metadata`);
  const items = new Map<string, number>();
  for (let i = 0; i < count; i++) {
    const at = 32 + i * 32;
    const item = bytes.toString("hex", at, at + 16);
    items.set(item, region.at + bytes.readUInt32LE(at + 16));
  }
  const read = (item: string) => {
    const at = items.get(item);
    if (at === undefined) throw invalid("an entry of the metadata is missing");
    return file.read(at, 8);
  };
  const parameters = await read(FILE_PARAMETERS);
  const block = parameters.readUInt32LE(0);
  const isPower = (block & (block - 1)) === 0;
  if (!isPower || block < MIN_BLOCK || block > MAX_BLOCK)
    throw invalid(`blocks of ${block} bytes`);
  if ((parameters.readUInt32LE(4) & 2) !== 0)
    throw invalid("it has only the changes since its parent");
  const sector = (await read(SECTOR_SIZE)).readUInt32LE(0);
  if (sector !== 512 && sector !== 4096)
    throw invalid(`sectors of ${sector} bytes`);
  const size = Number((await read(DISK_SIZE)).readBigUInt64LE(0));
  return { size, block, sector };
}

class VhdxImage implements SparseImage {
  readonly size: number;
  readonly unit: number;
  readonly tableUnits: number;
  readonly #table: Buffer;

  /** @param table of the blocks, with an entry for a bitmap after each `ratio` of them */
  constructor({ size, block }: Metadata, table: Buffer, ratio: number) {
    this.size = size;
    this.unit = block;
    this.tableUnits = ratio;
    this.#table = table;
  }

  openTable(index: number): Promise<FindPlace> {
    const first = index * (this.tableUnits + 1);
    return Promise.resolve((unit) =>
      this.#toPlace(this.#table.readBigUInt64LE((first + unit) * 8)),
    );
  }

  #toPlace(entry: bigint): Place | undefined {
    const state = Number(entry & 7n);
    if (state === PARTIAL) throw invalid("a block has only changes");
    if (state !== PRESENT) return undefined;
    const at = Number(entry >> 20n) * MIB;
    return { at, isCompressed: false, bytes: this.unit };
  }

  inflate(): Promise<Buffer> {
    return Promise.reject(invalid("no block is compressed"));
  }
}

function invalid(reason: string) {
  return invalidSource(`VHDX: ${reason}`);
}
