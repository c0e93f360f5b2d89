/** A 64-bit digest in two halves, both signed 32-bit integers. */
export interface Digest {
  readonly high: number;
  readonly low: number;
}

/** Digest of the empty set. */
export const EMPTY_DIGEST: Digest = { high: 0, low: 0 };

/**
 * Digest of an object: over the UTF-8 bytes of its canonical JSON, as
 * little-endian words of four bytes, the last one padded with zeros. Two lanes
 * of 32 bits, because browsers multiply those fast:
 *
 *     high = xorshift15((high ^ word) * 0x9e3779b1)
 *     low  = (rotateLeft13(low) + word) * 0x85ebca77
 *
 * and at the end low = mix(low ^ length), high = mix(high + low). Detects
 * copies that differ; it is not cryptographic. Clients implement it, too: do
 * not change.
 * @param length number of bytes that count; default: all
 */
export function digestOf(bytes: Uint8Array, length = bytes.length): Digest {
  let high = 0x243f6a88;
  let low = 0x13198a2e;
  const whole = length & ~3;
  let at = 0;
  while (at < whole) {
    const word =
      bytes[at]! |
      (bytes[at + 1]! << 8) |
      (bytes[at + 2]! << 16) |
      (bytes[at + 3]! << 24);
    high = Math.imul(high ^ word, 0x9e3779b1);
    high ^= high >>> 15;
    low = Math.imul(((low << 13) | (low >>> 19)) + word, 0x85ebca77);
    at += 4;
  }
  if (at < length) {
    let word = 0;
    for (let shift = 0; at < length; at++, shift += 8)
      word |= bytes[at]! << shift;
    high = Math.imul(high ^ word, 0x9e3779b1);
    high ^= high >>> 15;
    low = Math.imul(((low << 13) | (low >>> 19)) + word, 0x85ebca77);
  }
  low = mix(low ^ length);
  return { high: mix((high + low) | 0), low };
}

/** The digest of a set plus one object. The order does not matter. */
export function addDigest(set: Digest, object: Digest): Digest {
  return {
    high: (set.high + object.high) | 0,
    low: (set.low + object.low) | 0,
  };
}

/** The digest of a set minus one of its objects. */
export function subtractDigest(set: Digest, object: Digest): Digest {
  return {
    high: (set.high - object.high) | 0,
    low: (set.low - object.low) | 0,
  };
}

/** 16 hexadecimal digits, the high half first. */
export function digestToText({ high, low }: Digest): string {
  return toHex(high) + toHex(low);
}

function toHex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}

/**
 * Finalizer of MurmurHash3 (Austin Appleby, public domain): every input bit
 * affects half of the output bits.
 */
function mix(half: number): number {
  let mixed = half ^ (half >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
