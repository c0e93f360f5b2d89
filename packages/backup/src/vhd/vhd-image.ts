import { RepositoryError } from "../errors.js";
import {
  FOOTER_SIZE,
  HEADER_SIZE,
  MAX_VHD_SIZE,
  SECTOR_SIZE,
  UNUSED,
  VHD_BLOCK_SIZE,
  bitmapSize,
  encodeFooter,
  encodeHeader,
  roundUp,
} from "./vhd-format.js";

/** A dynamic VHD whose length is known before its content. */
interface VhdImage {
  /** Bytes. */
  readonly length: number;
  /** @param read the bytes of a block of 2 MiB (the last one may be shorter); blocks in ascending order */
  write(
    read: (block: number) => Promise<Buffer> | Buffer,
  ): AsyncGenerator<Buffer, void>;
}

/**
 * @param size bytes of the disk
 * @param blocks indexes of the blocks of 2 MiB that the VHD has, in ascending order
 * @throws RepositoryError `invalid` for disks that are too large for the format
 */
export function createVhdImage(
  size: number,
  blocks: readonly number[],
  now = Date.now(),
): VhdImage {
  if (size > MAX_VHD_SIZE)
    throw new RepositoryError(
      "invalid",
      `format: a disk of ${size} bytes does not fit into a VHD (at most ${MAX_VHD_SIZE}), use raw`,
    );
  const entries = Math.ceil(size / VHD_BLOCK_SIZE);
  const tableSize = roundUp(entries * 4, SECTOR_SIZE);
  const bitmap = Buffer.alloc(bitmapSize(VHD_BLOCK_SIZE), 0xff);
  const start = FOOTER_SIZE + HEADER_SIZE + tableSize;
  const step = bitmap.length + VHD_BLOCK_SIZE;
  return {
    length: start + blocks.length * step + FOOTER_SIZE,
    async *write(read) {
      const footer = encodeFooter(roundUp(size, SECTOR_SIZE), now);
      const table = Buffer.alloc(tableSize, 0xff);
      table.fill(UNUSED & 0xff);
      blocks.forEach((block, i) => {
        table.writeUInt32BE((start + i * step) / SECTOR_SIZE, block * 4);
      });
      yield Buffer.concat([footer, encodeHeader(entries), table]);
      for (const block of blocks) {
        const bytes = await read(block);
        yield bitmap;
        yield bytes;
        // The last block of the disk is as long as all others.
        if (bytes.length < VHD_BLOCK_SIZE)
          yield Buffer.alloc(VHD_BLOCK_SIZE - bytes.length);
      }
      yield footer;
    },
  };
}
