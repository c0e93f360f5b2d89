/** The grain of everything: XAPI's changed block tracking reports blocks of this size. */
export const BLOCK_SIZE = 64 * 1024;
/** Blocks of a chunk at most; a chunk never crosses a multiple of this. */
export const CHUNK_BLOCKS = 16;
export const CHUNK_SIZE = CHUNK_BLOCKS * BLOCK_SIZE;
/** Blocks that one region describes: 256 MiB. */
export const REGION_BLOCKS = 4096;
export const REGION_SIZE = REGION_BLOCKS * BLOCK_SIZE;
/** Chunks of a pack at most: extents store the number of a chunk in 16 bits. */
export const PACK_ENTRIES = 16_384;
/** A pack is complete when its chunks have this size. */
export const PACK_SIZE = 16 * 1024 * 1024;
/** Packs that share one parity file at most. */
export const PARITY_MEMBERS = 16;
/** Bytes of a pack name: SHA-256. */
export const NAME_SIZE = 32;
/** The largest disk: 64 TiB, so that a manifest stays small enough to be read at once. */
export const MAX_DISK_SIZE = 64 * 1024 ** 4;
