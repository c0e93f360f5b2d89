import { RepositoryError } from "../errors.js";

/** Sides of a screen, in pixels. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

export interface Rectangle extends ScreenSize {
  readonly x: number;
  readonly y: number;
}

/** Bytes of a pixel: blue, green, red, unused. */
export const PIXEL_BYTES = 4;
/** Larger screens are refused: 4096 x 2160 fits. */
const MAX_SIDE = 8_192;
const MAX_PIXELS = 16 * 2 ** 20;

/** The pixels of a screen, and which of them were received. */
export class Framebuffer {
  readonly width: number;
  readonly height: number;
  /** PIXEL_BYTES for each pixel, row by row. */
  readonly pixels: Buffer;
  readonly #isKnown: Uint8Array;
  #missing: number;

  /** @throws RepositoryError `source-invalid` if the screen is too large */
  constructor({ width, height }: ScreenSize) {
    const isAllowed =
      width > 0 &&
      height > 0 &&
      width <= MAX_SIDE &&
      height <= MAX_SIDE &&
      width * height <= MAX_PIXELS;
    if (!isAllowed)
      throw new RepositoryError(
        "source-invalid",
        `console: a screen of ${width} x ${height} pixels is not supported`,
      );
    this.width = width;
    this.height = height;
    this.pixels = Buffer.alloc(width * height * PIXEL_BYTES);
    this.#isKnown = new Uint8Array(width * height);
    this.#missing = width * height;
  }

  /** Whether all pixels were received. */
  get isComplete(): boolean {
    return this.#missing === 0;
  }

  /** @throws RepositoryError `source-invalid` if a part of it is outside of the screen */
  check({ x, y, width, height }: Rectangle): void {
    if (x + width <= this.width && y + height <= this.height) return;
    throw new RepositoryError(
      "source-invalid",
      "console: a rectangle is outside of the screen",
    );
  }

  /** One row of a rectangle. @param bytes PIXEL_BYTES for each pixel */
  writeRow(x: number, y: number, bytes: Buffer): void {
    const start = y * this.width + x;
    bytes.copy(this.pixels, start * PIXEL_BYTES);
    for (let at = start; at < start + bytes.length / PIXEL_BYTES; at++)
      if (this.#isKnown[at] === 0) {
        this.#isKnown[at] = 1;
        this.#missing--;
      }
  }
}
