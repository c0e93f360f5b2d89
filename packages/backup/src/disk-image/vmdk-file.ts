import { inflateGrain, maxCompressed } from "../vmdk/inflate-grain.js";
import {
  SECTOR,
  invalid,
  parseSparseHeader,
  type SparseHeader,
} from "../vmdk/sparse-header.js";
import type { ImageFile } from "./image-file.js";
import type { FindPlace, Place, SparseImage } from "./sparse-image.js";

/** Entry of a grain that is zero; 0: one that was never written. */
const ZERO_GRAIN = 1;
/** Bytes of a descriptor at most. */
const MAX_DESCRIPTOR = 64 * 1024;
const NO_PARENT = "ffffffff";

interface Located extends SparseHeader {
  readonly directory: number;
}

/** Opens a streamOptimized or monolithicSparse VMDK. @throws RepositoryError `source-invalid` */
export async function openVmdkFile(file: ImageFile): Promise<SparseImage> {
  const first = await file.read(0, SECTOR);
  if (first.toString("latin1", 0, 1) === "#")
    throw invalid(
      "it is a descriptor without data: convert the disk first (qemu-img convert -O vmdk -o subformat=streamOptimized)",
    );
  const header = await locate(file, parseSparseHeader(first));
  await checkParent(file, first);
  const tables = Math.ceil(header.capacity / (header.grain * header.entries));
  const at = header.directory * SECTOR;
  if (at + tables * 4 > file.size) throw invalid("its grain directory is cut");
  return new VmdkImage(file, header, await file.read(at, tables * 4));
}

/** In a streamOptimized VMDK the footer, before the last marker, says where the directory is. */
async function locate(file: ImageFile, header: SparseHeader): Promise<Located> {
  const { directory } = header;
  if (directory !== undefined) return { ...header, directory };
  const footer = parseSparseHeader(
    await file.read(file.size - 2 * SECTOR, SECTOR),
  );
  if (footer.directory === undefined || footer.capacity !== header.capacity)
    throw invalid("it has no valid footer: it is incomplete");
  return { ...footer, directory: footer.directory };
}

/** @param first the first sector */
async function checkParent(file: ImageFile, first: Buffer): Promise<void> {
  const at = Number(first.readBigUInt64LE(28)) * SECTOR;
  const length = Number(first.readBigUInt64LE(36)) * SECTOR;
  if (at === 0 || length === 0) return;
  const bytes = await file.readUpTo(at, Math.min(length, MAX_DESCRIPTOR));
  const parent = /^parentCID\s*=\s*(\w+)/im.exec(bytes.toString("latin1"))?.[1];
  if (parent !== undefined && parent.toLowerCase() !== NO_PARENT)
    throw invalid("it has only the changes since its parent");
}

class VmdkImage implements SparseImage {
  readonly size: number;
  readonly unit: number;
  readonly tableUnits: number;
  readonly #file: ImageFile;
  readonly #header: SparseHeader;
  readonly #directory: Buffer;

  constructor(file: ImageFile, header: SparseHeader, directory: Buffer) {
    this.size = header.capacity * SECTOR;
    this.unit = header.grain * SECTOR;
    this.tableUnits = header.entries;
    this.#file = file;
    this.#header = header;
    this.#directory = directory;
  }

  openTable(index: number): Promise<FindPlace> | undefined {
    const sector = this.#directory.readUInt32LE(index * 4);
    return sector === 0 ? undefined : this.#readTable(sector * SECTOR);
  }

  async #readTable(at: number): Promise<FindPlace> {
    const table = await this.#file.read(at, this.tableUnits * 4);
    const { isCompressed } = this.#header;
    const bytes = isCompressed ? SECTOR : this.unit;
    return (unit) => {
      const sector = table.readUInt32LE(unit * 4);
      if (sector <= ZERO_GRAIN) return undefined;
      return { at: sector * SECTOR, isCompressed, bytes };
    };
  }

  async inflate({ at }: Place, index: number): Promise<Buffer> {
    const sector = index * this.#header.grain;
    const marker = await this.#file.read(at, 12);
    const length = marker.readUInt32LE(8);
    if (Number(marker.readBigUInt64LE(0)) !== sector || length === 0)
      throw invalid(`the grain of sector ${sector} has the marker of another`);
    if (length > maxCompressed(this.#header))
      throw invalid(`a compressed grain of ${length} bytes`);
    const data = await this.#file.read(at + 12, length);
    return inflateGrain(data, sector, this.#header);
  }
}
