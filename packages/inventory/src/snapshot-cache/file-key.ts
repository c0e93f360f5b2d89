import { hkdfSync } from "node:crypto";

/**
 * The key of one snapshot file, 32 bytes: derived (HKDF-SHA-256) from the master
 * key, the head of the file and the id of the pool.
 */
export function fileKey(
  masterKey: Uint8Array,
  head: Uint8Array,
  poolId: string,
): Uint8Array {
  // Part of the on-disk format: another text means another key.
  const info = `xo-server inventory ${poolId}`;
  return new Uint8Array(hkdfSync("sha256", masterKey, head, info, 32));
}
