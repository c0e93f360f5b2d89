/*
 * A pack: chunks, each encrypted and authenticated, and the index of all of
 * them at the end. Integers are big endian.
 *
 *   header  8   magic
 *          32   salt of the pack's key
 *   chunks  ..  ciphertext and tag of each, in the order of the index
 *   index   ..  encrypted entries, tag
 *   footer  4   bytes of the index with its tag
 *           4   number of entries
 *           8   magic
 *
 * An entry: 16 id, 4 stored bytes with the tag, 4 plain bytes, 1 compression, 3 zero.
 */
export const PACK_MAGIC = Buffer.from("XOBKPCK1", "latin1");
export const FOOTER_MAGIC = Buffer.from("XOBKEND1", "latin1");
export const HEADER_SIZE = 40;
export const FOOTER_SIZE = 16;
export const ENTRY_SIZE = 28;
export const TAG_SIZE = 16;

/** The nonce of a chunk is its number; the key belongs to this pack alone. */
export function entryNonce(number: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(number, 8);
  return nonce;
}

/** Nonce of the index: no chunk has it, because the numbers of chunks fill only 4 bytes. */
export function indexNonce(): Buffer {
  return Buffer.alloc(12, 0xff);
}

/** What is authenticated with a chunk: its entry without the stored size. */
export function chunkData(entry: Buffer): Buffer {
  return Buffer.concat([entry.subarray(0, 16), entry.subarray(20)]);
}

/** @param name hexadecimal SHA-256 of the pack's bytes */
export function packFile(name: string): string {
  return `packs/${name.slice(0, 2)}/${name}`;
}
