import { pipeline } from "node:stream/promises";
import { ImageFile } from "../disk-image/image-file.js";
import type { ImageDisk } from "../disk-image/image-disk.js";
import { openImage } from "../disk-image/open-image.js";
import { createVhdImage } from "../vhd/vhd-image.js";
import { VHD_BLOCK_SIZE } from "../vhd/vhd-format.js";
import { openInput } from "./open-input.js";
import { openOutput } from "./open-output.js";
import type { OrderContext } from "./order-context.js";
import type { ImportResult } from "./order-results.js";
import type { ImportImageOperation } from "./work-order.js";

/** @throws RepositoryError `source-invalid`, `no-space` */
export async function runImportImage(
  { folder, format }: ImportImageOperation,
  { signal, onProgress }: OrderContext,
): Promise<ImportResult> {
  const file = await ImageFile.receive(folder, openInput());
  try {
    const disk = await openImage(file);
    const blocks = await disk.blocks();
    const vhd = createVhdImage(disk.size, blocks);
    onProgress({ total: format === "vhd" ? vhd.length : disk.size });
    let written = 0;
    async function* counted(): AsyncGenerator<Buffer, void> {
      const content =
        format === "vhd"
          ? vhd.write((block) => disk.read(block))
          : rawContent(disk, new Set(blocks));
      for await (const bytes of content) {
        yield bytes;
        written += bytes.length;
      }
    }
    await pipeline(counted(), openOutput(), { signal });
    return { written };
  } finally {
    await file.close();
  }
}

/** All bytes of the disk. @param blocks those with data */
async function* rawContent(
  disk: ImageDisk,
  blocks: ReadonlySet<number>,
): AsyncGenerator<Buffer, void> {
  const zeros = Buffer.alloc(VHD_BLOCK_SIZE);
  for (let block = 0; block * VHD_BLOCK_SIZE < disk.size; block++) {
    const rest = disk.size - block * VHD_BLOCK_SIZE;
    yield blocks.has(block)
      ? await disk.read(block)
      : zeros.subarray(0, Math.min(VHD_BLOCK_SIZE, rest));
  }
}
