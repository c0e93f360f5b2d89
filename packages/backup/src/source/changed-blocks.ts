import { RepositoryError } from "../errors.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Range } from "../write/block-runs.js";
import type { ChangedBlocks } from "./disk-source.js";

/** Base64 of whole groups of 4, with padding. */
const BASE64 =
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Decodes a bitmap of changed blocks to ranges of whole blocks, in order and joined.
 * @param size of the disk in bytes; bits of blocks behind its end must be 0
 * @throws RepositoryError `source-invalid`
 */
export function changedRanges(
  { bitmap, grain }: ChangedBlocks,
  size: number,
): Range[] {
  if (grain !== BLOCK_SIZE)
    throw invalid(`a grain of ${String(grain)} bytes, only ${BLOCK_SIZE}`);
  const text = bitmap.replaceAll(/[\r\n]/g, "");
  if (!BASE64.test(text)) throw invalid("no base64");
  const bytes = Buffer.from(text, "base64");
  const blocks = Math.ceil(size / BLOCK_SIZE);
  // Some storage drivers round the size of the disk up.
  if (bytes.length * 8 < blocks)
    throw invalid(`${bytes.length * 8} blocks, the disk has ${blocks}`);
  const ranges: { offset: number; length: number }[] = [];
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] === 0) continue;
    for (let bit = 0; bit < 8; bit++) {
      const block = i * 8 + bit;
      if ((bytes[i]! & (0x80 >> bit)) === 0) continue;
      if (block >= blocks) throw invalid("changes behind the end of the disk");
      const offset = block * BLOCK_SIZE;
      const last = ranges.at(-1);
      if (last !== undefined && last.offset + last.length === offset)
        last.length += BLOCK_SIZE;
      else ranges.push({ offset, length: BLOCK_SIZE });
    }
  }
  const last = ranges.at(-1);
  if (last !== undefined)
    last.length = Math.min(last.length, size - last.offset);
  return ranges;
}

/** The bitmap of the blocks that ranges touch. @param size of the disk in bytes */
export function encodeChangedBlocks(
  ranges: readonly Range[],
  size: number,
): ChangedBlocks {
  const bytes = Buffer.alloc(Math.ceil(Math.ceil(size / BLOCK_SIZE) / 8));
  for (const { offset, length } of ranges) {
    const end = Math.min(offset + length, size);
    for (
      let block = Math.floor(offset / BLOCK_SIZE);
      block * BLOCK_SIZE < end;
      block++
    )
      bytes[block >> 3]! |= 0x80 >> (block & 7);
  }
  return { bitmap: bytes.toString("base64"), grain: 65_536 };
}

function invalid(reason: string): RepositoryError {
  return new RepositoryError(
    "source-invalid",
    `bitmap of changed blocks: ${reason}`,
  );
}
