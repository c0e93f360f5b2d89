import { invalidSource } from "../foreign/foreign-error.js";
import { MAX_VHD_SIZE, VHD_BLOCK_SIZE } from "../vhd/vhd-format.js";
import type { ImageFile } from "./image-file.js";
import type { FindPlace, SparseImage } from "./sparse-image.js";

/** The disk of an image, in blocks of 2 MiB, which are read in ascending order. */
export class ImageDisk {
  readonly #file: ImageFile;
  readonly #image: SparseImage;
  /** The table that was read last. */
  #table: { readonly index: number; readonly find: FindPlace | undefined } = {
    index: -1,
    find: undefined,
  };

  /** @throws RepositoryError `source-invalid`: the disk is empty or too large */
  constructor(file: ImageFile, image: SparseImage) {
    if (image.size <= 0 || image.size > MAX_VHD_SIZE)
      throw invalidSource(
        `a disk of ${image.size} bytes: 1 to ${MAX_VHD_SIZE} are possible`,
      );
    this.#file = file;
    this.#image = image;
  }

  /** Bytes. */
  get size(): number {
    return this.#image.size;
  }

  /**
   * Indexes of the blocks with data.
   * @throws RepositoryError `source-invalid`: the tables refer to more than the file has, so that a small file would be a large disk
   */
  async blocks(): Promise<readonly number[]> {
    const { size, unit, tableUnits } = this.#image;
    const units = Math.ceil(size / unit);
    const blocks = new Set<number>();
    let left = this.#file.size + unit;
    for (let first = 0; first < units; first += tableUnits) {
      const opening = this.#image.openTable(first / tableUnits);
      if (opening === undefined) continue;
      const find = await opening;
      const count = Math.min(tableUnits, units - first);
      for (let i = 0; i < count; i++) {
        const place = find(i);
        if (place === undefined) continue;
        const start = (first + i) * unit;
        const end = Math.min(size, start + unit);
        // Before a disk is created for it.
        if (place.at + (place.isCompressed ? 1 : end - start) > this.#file.size)
          throw this.#file.endsEarly(place.at);
        left -= place.bytes;
        if (left < 0) throw invalidSource("parts of the image overlap");
        markBlocks(blocks, start, end);
      }
    }
    return [...blocks].toSorted((a, b) => a - b);
  }

  /** @throws RepositoryError `source-invalid` */
  async read(block: number): Promise<Buffer> {
    const { size, unit } = this.#image;
    const start = block * VHD_BLOCK_SIZE;
    const bytes = Buffer.alloc(Math.min(VHD_BLOCK_SIZE, size - start));
    for (let done = 0; done < bytes.length;) {
      const index = Math.floor((start + done) / unit);
      const from = start + done - index * unit;
      const length = Math.min(unit - from, bytes.length - done);
      await this.#readUnit(index, from, bytes.subarray(done, done + length));
      done += length;
    }
    return bytes;
  }

  /** @param from offset in the unit @param target zeros */
  async #readUnit(index: number, from: number, target: Buffer): Promise<void> {
    const { tableUnits } = this.#image;
    const table = Math.floor(index / tableUnits);
    if (this.#table.index !== table)
      this.#table = {
        index: table,
        find: await this.#image.openTable(table),
      };
    const place = this.#table.find?.(index % tableUnits);
    if (place === undefined) return;
    if (!place.isCompressed)
      return this.#file.readInto(target, place.at + from);
    const unit = await this.#image.inflate(place, index);
    unit.copy(target, 0, from, from + target.length);
  }
}

/** @param end behind the last byte */
function markBlocks(blocks: Set<number>, start: number, end: number): void {
  const last = Math.floor((end - 1) / VHD_BLOCK_SIZE);
  for (let i = Math.floor(start / VHD_BLOCK_SIZE); i <= last; i++)
    blocks.add(i);
}
