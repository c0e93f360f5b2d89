/** 64 bits in two halves, both signed 32-bit numbers. */
export interface Digest {
  readonly high: number;
  readonly low: number;
}

/** Of no object at all. */
export const EMPTY_DIGEST: Digest = { high: 0, low: 0 };

/**
 * Digest of an object: over the UTF-8 bytes of its canonical JSON, as words of
 * four bytes, least significant first, the last one filled up with zeros. Two
 * lanes of 32 bits, because that is what a browser multiplies fast:
 *
 *     high = xorshift15((high ^ word) * 0x9e3779b1)
 *     low  = (rotateLeft13(low) + word) * 0x85ebca77
 *
 * and at the end low = mix(low ^ length), high = mix(high + low). It finds
 * copies that differ; it keeps nobody from forging one.
 * @param length bytes that count; default: all
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

/** The digest of a set with one more object: order does not matter. */
export function addDigest(set: Digest, one: Digest): Digest {
  return { high: (set.high + one.high) | 0, low: (set.low + one.low) | 0 };
}

/** The digest of a set without one of its objects. */
export function subtractDigest(set: Digest, one: Digest): Digest {
  return { high: (set.high - one.high) | 0, low: (set.low - one.low) | 0 };
}

/** 16 hexadecimal digits, high half first. */
export function digestToText({ high, low }: Digest): string {
  return hex(high) + hex(low);
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}

/** murmur3's finalizer (Austin Appleby, public domain): every bit of the input moves half of the output. */
function mix(half: number): number {
  let mixed = half ^ (half >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
