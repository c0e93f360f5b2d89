/** 32-bit words of a UUID. */
export const PACKED_WORDS = 4;
const UUID_LENGTH = 36;
const HEX = Buffer.from("0123456789abcdef");
const DASH = 0x2d;

/**
 * Value of a hexadecimal digit by char code; -1 for others. Upper case is not
 * accepted: unpacking would return lower case.
 */
const digitOf = new Int8Array(128).fill(-1);
HEX.forEach((code, digit) => (digitOf[code] = digit));

const scratch = Buffer.alloc(UUID_LENGTH);

/**
 * Packs a UUID into four 32-bit words, a quarter of the memory of its text.
 * @returns false when the text after `prefix` is not a UUID in lower case
 */
export function packUuid(
  text: string,
  prefix: string,
  words: Int32Array,
): boolean {
  const from = prefix.length;
  if (text.length !== from + UUID_LENGTH || !text.startsWith(prefix))
    return false;
  let digits = 0;
  for (let i = 0; i < UUID_LENGTH; i++) {
    const code = text.charCodeAt(from + i);
    if (isDashAt(i)) {
      if (code !== DASH) return false;
      continue;
    }
    const digit = code < 128 ? digitOf[code]! : -1;
    if (digit < 0) return false;
    words[digits >> 3] = (words[digits >> 3]! << 4) | digit;
    digits++;
  }
  return true;
}

/** The UUID as a string. */
export function unpackUuid(words: Int32Array): string {
  writeUuid(words, scratch, 0);
  return scratch.toString("latin1");
}

/** Writes the UUID as ASCII. @returns the number of bytes */
export function writeUuid(
  words: Int32Array,
  bytes: Uint8Array,
  at: number,
): number {
  let to = at;
  // Four digits per half word; dashes follow the second to the fifth half.
  for (let half = 0; half < 2 * PACKED_WORDS; half++) {
    const digits = words[half >> 1]! >>> (half % 2 === 0 ? 16 : 0);
    bytes[to++] = HEX[(digits >>> 12) & 15]!;
    bytes[to++] = HEX[(digits >>> 8) & 15]!;
    bytes[to++] = HEX[(digits >>> 4) & 15]!;
    bytes[to++] = HEX[digits & 15]!;
    if (half >= 1 && half <= 4) bytes[to++] = DASH;
  }
  return UUID_LENGTH;
}

function isDashAt(index: number): boolean {
  return index === 8 || index === 13 || index === 18 || index === 23;
}

/** The same as `hashText` of a text in ASCII, of which these are the bytes. */
export function hashAscii(
  bytes: Uint8Array,
  length: number,
  seed: number,
): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < length; i++)
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  return hash;
}

/** 32-bit FNV-1a over the code units of a text, starting from `seed`. */
export function hashText(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash;
}
