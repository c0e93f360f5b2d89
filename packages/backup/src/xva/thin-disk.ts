import type { DiskPart } from "../foreign/foreign-vm.js";
import { invalidSource } from "../foreign/foreign-error.js";
import { XVA_BLOCK, xvaBlock } from "./xva-block.js";

const ZEROS = Buffer.alloc(XVA_BLOCK);

interface ThinDisk {
  /** Of its files, `Ref:7`. */
  readonly folder: string;
  /** Bytes. */
  readonly size: number;
  /** In ascending order; bytes that no part contains are zero. */
  readonly parts: AsyncIterable<DiskPart>;
}

/**
 * The files of a disk in an XVA, while its parts arrive. Blocks of zeros are left out, but the
 * first and the last.
 * @returns the files of its last block: XAPI takes an archive as complete when it has
 * the last block of the last disk
 * @throws RepositoryError `source-invalid` for parts that overlap or are behind the end
 */
export async function* thinDisk({
  folder,
  size,
  parts,
}: ThinDisk): AsyncGenerator<Buffer, Buffer[]> {
  const last = Math.max(0, Math.ceil(size / XVA_BLOCK) - 1);
  const sizeOf = (block: number): number =>
    Math.min(XVA_BLOCK, size - block * XVA_BLOCK);
  let current = 0;
  let bytes = Buffer.alloc(sizeOf(0));
  let end = 0;
  for await (const part of parts) {
    if (part.offset < end || part.offset + part.bytes.length > size)
      throw invalidSource(
        `data at byte ${part.offset} of a disk of ${size} bytes`,
      );
    end = part.offset + part.bytes.length;
    for (let at = part.offset; at < end;) {
      const block = Math.floor(at / XVA_BLOCK);
      if (block !== current) {
        if (current === 0 || !isZero(bytes))
          yield* xvaBlock(folder, current, bytes);
        current = block;
        bytes = Buffer.alloc(sizeOf(block));
      }
      const start = at - block * XVA_BLOCK;
      const piece = part.bytes.subarray(
        at - part.offset,
        at - part.offset + XVA_BLOCK - start,
      );
      bytes.set(piece, start);
      at += piece.length;
    }
  }
  if (current === last) return xvaBlock(folder, last, bytes);
  if (current === 0 || !isZero(bytes)) yield* xvaBlock(folder, current, bytes);
  return xvaBlock(folder, last, Buffer.alloc(sizeOf(last)));
}

function isZero(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}
