/**
 * Contribution of a record to the digest of a set: 64 bits over its reference
 * and its content, in two halves. The digest of a set is the sum of the
 * contributions, each half modulo 2^32: the order does not matter, and a change
 * is one subtraction and one addition. The reference is mixed in so that two
 * objects that swap their content change the digest.
 */
export function mixHigh(refHash: number, digestHigh: number): number {
  const mixed = Math.imul(digestHigh ^ refHash, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
}

/** The other half: see mixHigh. */
export function mixLow(refHash: number, digestLow: number): number {
  const mixed = Math.imul((digestLow + refHash) | 0, 0xc2b2ae35);
  return Math.imul(mixed ^ (mixed >>> 16), 0x297a2d39);
}

/** 16 hexadecimal digits, the high half first. */
export function toDigestText(high: number, low: number): string {
  return toHex(high) + toHex(low);
}

function toHex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}
