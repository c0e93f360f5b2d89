import { DiskContent } from "../read/disk-content.js";
import type { DiskReader } from "../read/disk-reader.js";
import { readAhead } from "../read/read-ahead.js";
import { ARCHIVE_END, sizeInArchive, tarFile } from "../xva/tar-writer.js";
import { CHECKSUM_SIZE, XVA_BLOCK, xvaBlock } from "../xva/xva-block.js";
import type { Image } from "./image.js";

/** Blocks that are read at the same time. */
const AHEAD = 8;

interface XvaDisk {
  readonly reader: DiskReader;
  /** Of its files in the archive, `Ref:7`: the id of the disk in ova.xml. */
  readonly folder: string;
}

/** A disk and the indexes of its blocks that the archive has. */
interface XvaBlocks extends Omit<XvaDisk, "reader"> {
  readonly content: DiskContent;
  readonly blocks: readonly number[];
}

/**
 * An XVA, as XAPI imports it (xen-api, ocaml/xapi/stream_vdi.ml): a tar archive of ova.xml and
 * of blocks of 1 MiB, `Ref:7/00000003`, each followed by its SHA-1, `Ref:7/00000003.checksum`,
 * which all versions of XAPI know. Blocks of zeros are left out, the first and the last of
 * a disk never; disks are in the order of their folders' names.
 * @param ova the text of ova.xml
 * @throws RepositoryError `missing` or `damaged`
 */
export async function createXvaImage(
  ova: string,
  disks: readonly XvaDisk[],
  signal?: AbortSignal,
): Promise<Image> {
  const head = Buffer.from(ova);
  const all: XvaBlocks[] = [];
  let length = sizeInArchive(head.length) + ARCHIVE_END.length;
  const sorted = disks.toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
  for (const { reader, folder } of sorted) {
    const content = new DiskContent(reader);
    const blocks = await blocksOf(content, signal);
    for (const block of blocks)
      length +=
        sizeInArchive(sizeOf(content, block)) + sizeInArchive(CHECKSUM_SIZE);
    all.push({ folder, content, blocks });
  }
  return { length, content: () => contentOf(head, all, signal) };
}

async function* contentOf(
  ova: Buffer,
  disks: readonly XvaBlocks[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  yield* tarFile("ova.xml", ova);
  for (const { folder, content, blocks } of disks) {
    const files = readAhead(blocks, AHEAD, async (block) => {
      signal?.throwIfAborted();
      const bytes = Buffer.allocUnsafe(sizeOf(content, block));
      await content.read(block * XVA_BLOCK, bytes);
      return xvaBlock(folder, block, bytes);
    });
    for await (const parts of files) yield* parts;
  }
  yield ARCHIVE_END;
}

/** Indexes of the blocks that are not all zero, of the first and of the last. */
async function blocksOf(
  content: DiskContent,
  signal: AbortSignal | undefined,
): Promise<number[]> {
  if (content.size === 0) return [];
  const last = Math.ceil(content.size / XVA_BLOCK) - 1;
  const blocks = new Set([0, last]);
  for (const { offset, length } of await content.used(signal)) {
    const end = Math.ceil((offset + length) / XVA_BLOCK);
    for (let block = Math.floor(offset / XVA_BLOCK); block < end; block++)
      blocks.add(block);
  }
  return [...blocks].sort((a, b) => a - b);
}

function sizeOf({ size }: DiskContent, block: number): number {
  return Math.min(XVA_BLOCK, size - block * XVA_BLOCK);
}
