import { hashText } from "../fleet/seeded-random.js";

export const MiB = 2 ** 20;
const zeros = Buffer.alloc(MiB);

/** One MiB in this many contains data; the rest of a disk is zero. */
const SPARSENESS = 64;

/**
 * The contents of a disk: a pure function of its uuid and the offset, never
 * stored. The first MiB and every 64th or so contain data.
 */
export function diskBlock(uuid: string, index: number): Buffer {
  return hasData(uuid, index) ? dataBlock(uuid, index) : zeros;
}

export function hasData(uuid: string, index: number): boolean {
  return index === 0 || index % SPARSENESS === hashText(uuid) % SPARSENESS;
}

/** A page of noise, repeated: it compresses as disks do. */
function dataBlock(uuid: string, index: number): Buffer {
  const page = Buffer.alloc(4096);
  let word = hashText(`${uuid}:${index}`) | 1;
  for (let at = 0; at < page.length; at += 4) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    page.writeInt32LE(word, at);
  }
  return Buffer.alloc(MiB, page);
}

/** The whole disk, MiB by MiB. */
export function* rawDisk(
  size: number,
  blockAt: (index: number) => Buffer,
): Generator<Buffer> {
  for (let at = 0; at < size; at += MiB) {
    const block = blockAt(at / MiB);
    yield size - at < MiB ? block.subarray(0, size - at) : block;
  }
}

/** A sparse disk is shown in exports by the data of its first part and its end: an export stays small. */
const SHOWN = 256;

/** Numbers of the MiBs in an export; the first and the last always [export format]. */
export function exportedBlocks(uuid: string, size: number): readonly number[] {
  const count = Math.ceil(size / MiB);
  const blocks = [];
  for (let index = 0; index < Math.min(count, SHOWN); index++)
    if (hasData(uuid, index)) blocks.push(index);
  if (count > 1 && blocks.at(-1) !== count - 1) blocks.push(count - 1);
  return blocks;
}
