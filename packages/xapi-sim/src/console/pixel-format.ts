/** The client's pixel format: RFB's PIXEL_FORMAT, true colour only. */
export interface PixelFormat {
  readonly bitsPerPixel: 8 | 16 | 32;
  readonly bigEndian: boolean;
  readonly max: readonly [red: number, green: number, blue: number];
  readonly shift: readonly [red: number, green: number, blue: number];
}

export const defaultFormat: PixelFormat = {
  bitsPerPixel: 32,
  bigEndian: false,
  max: [255, 255, 255],
  shift: [16, 8, 0],
};

/** The 16 bytes of the wire. */
export function writeFormat({
  bitsPerPixel,
  bigEndian,
  max,
  shift,
}: PixelFormat): Buffer {
  const bytes = Buffer.alloc(16);
  bytes[0] = bitsPerPixel;
  bytes[1] = bitsPerPixel === 32 ? 24 : bitsPerPixel;
  bytes[2] = bigEndian ? 1 : 0;
  bytes[3] = 1;
  max.forEach((value, i) => bytes.writeUInt16BE(value, 4 + 2 * i));
  shift.forEach((value, i) => bytes.writeUInt8(value, 10 + i));
  return bytes;
}

/**
 * Undefined for colour maps and unusual sizes, which no current client
 * requests.
 */
export function readFormat(bytes: Buffer): PixelFormat | undefined {
  const bitsPerPixel = bytes[0];
  if (
    bytes[3] === 0 ||
    (bitsPerPixel !== 8 && bitsPerPixel !== 16 && bitsPerPixel !== 32)
  )
    return undefined;
  return {
    bitsPerPixel,
    bigEndian: bytes[2] !== 0,
    max: [bytes.readUInt16BE(4), bytes.readUInt16BE(6), bytes.readUInt16BE(8)],
    shift: [bytes[10]! & 31, bytes[11]! & 31, bytes[12]! & 31],
  };
}

/** Writes colours (0xRRGGBB) in this format, one after another. */
export function encodePixels(
  format: PixelFormat,
  colours: Uint32Array,
): Buffer {
  if (isPlain(format))
    return Buffer.from(colours.buffer, colours.byteOffset, colours.byteLength);
  const size = format.bitsPerPixel / 8;
  const bytes = Buffer.alloc(colours.length * size);
  const { max, shift } = format;
  for (let i = 0; i < colours.length; i++) {
    const colour = colours[i]!;
    const value =
      ((scale((colour >> 16) & 255, max[0]) << shift[0]) |
        (scale((colour >> 8) & 255, max[1]) << shift[1]) |
        (scale(colour & 255, max[2]) << shift[2])) >>>
      0;
    writePixel(bytes, i * size, { value, format });
  }
  return bytes;
}

/** The machine's byte order matches the client's: no conversion needed. */
function isPlain({
  bitsPerPixel,
  bigEndian,
  max,
  shift,
}: PixelFormat): boolean {
  return (
    bitsPerPixel === 32 &&
    !bigEndian &&
    max.every((value) => value === 255) &&
    shift[0] === 16 &&
    shift[1] === 8 &&
    shift[2] === 0
  );
}

function scale(level: number, max: number): number {
  return Math.round((level * max) / 255);
}

function writePixel(
  bytes: Buffer,
  at: number,
  { value, format }: { value: number; format: PixelFormat },
): void {
  const size = format.bitsPerPixel / 8;
  const pixel = size === 4 ? value : value & (2 ** format.bitsPerPixel - 1);
  if (format.bigEndian) bytes.writeUIntBE(pixel, at, size);
  else bytes.writeUIntLE(pixel, at, size);
}
