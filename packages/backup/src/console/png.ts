import { crc32, deflateSync } from "node:zlib";
import { PIXEL_BYTES, type ScreenSize } from "./framebuffer.js";

/** Pixels of a screen: PIXEL_BYTES for each pixel, blue first, row by row. */
export interface Bitmap extends ScreenSize {
  readonly pixels: Buffer;
}

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
/** Bit depth 8, colour type 2 (RGB), default compression, filter and interlace method. */
const FORMAT = [8, 2, 0, 0, 0];
/** Filter of a row: the difference to the pixel on the left. */
const SUB = 1;

/** Encodes a bitmap as PNG (ISO/IEC 15948), without transparency. */
export function encodePng(bitmap: Bitmap): Buffer {
  const { width, height } = bitmap;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(FORMAT, 8);
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(filteredRows(bitmap))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A bitmap of half the width and height: each pixel is the mean of four. */
export function halve({ width, height, pixels }: Bitmap): Bitmap {
  const [columns, rows] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  const half = Buffer.alloc(columns * rows * PIXEL_BYTES);
  for (let y = 0; y < rows; y++)
    for (let x = 0; x < columns; x++)
      for (let band = 0; band < PIXEL_BYTES - 1; band++) {
        let sum = 0;
        for (const [dx, dy] of CORNERS) {
          const column = Math.min(2 * x + dx, width - 1);
          const row = Math.min(2 * y + dy, height - 1);
          sum += pixels[(row * width + column) * PIXEL_BYTES + band]!;
        }
        half[(y * columns + x) * PIXEL_BYTES + band] = Math.round(sum / 4);
      }
  return { width: columns, height: rows, pixels: half };
}

const CORNERS = [
  [0, 0],
  [1, 0],
  [0, 1],
  [1, 1],
] as const;

function filteredRows({ width, height, pixels }: Bitmap): Buffer {
  const length = 1 + 3 * width;
  const rows = Buffer.alloc(length * height);
  for (let y = 0; y < height; y++) {
    rows[y * length] = SUB;
    let left = [0, 0, 0];
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * PIXEL_BYTES;
      const colour = [pixels[from + 2]!, pixels[from + 1]!, pixels[from]!];
      const to = y * length + 1 + 3 * x;
      for (let band = 0; band < 3; band++)
        rows[to + band] = colour[band]! - left[band]!;
      left = colour;
    }
  }
  return rows;
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
