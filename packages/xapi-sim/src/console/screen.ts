import { hashText } from "../fleet/seeded-random.js";

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export const WIDTH = 640;
export const HEIGHT = 400;
const CELL = 16;
/** More changes than this are one: everything. */
const MANY = 32;
/** Where a bar runs from left to right for ever: the part of the picture that changes by itself. */
const BAR: Rectangle = {
  x: 0,
  y: HEIGHT - 2 * CELL,
  width: WIDTH,
  height: CELL,
};
const WHOLE: Rectangle = { x: 0, y: 0, width: WIDTH, height: HEIGHT };
const KEY_ROW: Rectangle = {
  x: 0,
  y: HEIGHT - CELL,
  width: WIDTH,
  height: CELL,
};

/**
 * The picture on a guest's screen: a pattern that is its own (from its uuid), a bar
 * that moves, a cell for each key pressed, a cross where the pointer is.
 */
export class Screen {
  readonly #seed: number;
  #frame = 0;
  #keys: readonly number[] = [];
  #pointer = { x: 0, y: 0 };
  /** By position, so that changes that no client fetches do not pile up. */
  #dirty = new Map<string, Rectangle>();
  /** The screen as it was sent, and the rectangles to send again. */
  readonly #pixels = new Uint32Array(WIDTH * HEIGHT);
  #stale: Rectangle[] = [WHOLE];

  constructor(uuid: string) {
    this.#seed = hashText(uuid);
  }

  /** The next frame of the bar. */
  tick(): void {
    this.#frame++;
    this.#change(BAR);
  }

  key(symbol: number): void {
    this.#keys = [...this.#keys, symbol].slice(-(WIDTH / CELL));
    this.#change(KEY_ROW);
  }

  point(x: number, y: number): void {
    this.#change(around(this.#pointer));
    this.#change(around({ x, y }));
    this.#pointer = { x, y };
  }

  get hasChanges(): boolean {
    return this.#dirty.size > 0;
  }

  /** Returns the area that has changed since the last call. */
  takeChanges(): readonly Rectangle[] {
    const changes = [...this.#dirty.values()];
    this.#dirty.clear();
    return changes;
  }

  #change(rectangle: Rectangle): void {
    const { x, y, width, height } = rectangle;
    if (width === 0 || height === 0) return;
    if (this.#stale.length < MANY) this.#stale.push(rectangle);
    else this.#stale = [WHOLE];
    // A pointer that moved while nothing was sent: sending the whole picture is
    // cheaper.
    if (this.#dirty.size > MANY) {
      this.#dirty.clear();
      this.#dirty.set("all", WHOLE);
    } else this.#dirty.set(`${x},${y}`, rectangle);
  }

  /** The colours (0xRRGGBB) of a part of the picture, row by row. */
  colours({ x, y, width, height }: Rectangle): Uint32Array {
    for (const rectangle of this.#stale) this.#paint(rectangle);
    this.#stale = [];
    const colours = new Uint32Array(width * height);
    for (let row = 0; row < height; row++) {
      const start = (y + row) * WIDTH + x;
      colours.set(this.#pixels.subarray(start, start + width), row * width);
    }
    return colours;
  }

  #paint({ x, y, width, height }: Rectangle): void {
    for (let row = y; row < y + height; row++)
      for (let column = x; column < x + width; column++)
        this.#pixels[row * WIDTH + column] = this.#colourAt(column, row);
  }

  #colourAt(x: number, y: number): number {
    const pointer = this.#pointer;
    if (
      (x === pointer.x && Math.abs(y - pointer.y) < 8) ||
      (y === pointer.y && Math.abs(x - pointer.x) < 8)
    )
      return 0xffffff;
    if (y >= KEY_ROW.y) {
      const symbol = this.#keys[Math.floor(x / CELL)];
      return symbol === undefined
        ? 0x202020
        : tint(Math.imul(symbol + 1, 0x9e3779b1));
    }
    if (y >= BAR.y)
      return (x + WIDTH - ((this.#frame * 8) % WIDTH)) % WIDTH < 4 * CELL
        ? 0x33cc66
        : 0x101820;
    return this.#pattern(Math.floor(x / CELL), Math.floor(y / CELL));
  }

  /** Symmetric about the middle, like generated avatars. */
  #pattern(column: number, row: number): number {
    const folded = Math.min(column, WIDTH / CELL - 1 - column);
    let bits = Math.imul(
      this.#seed ^ (folded * 73856093) ^ (row * 19349663),
      0x85ebca6b,
    );
    bits ^= bits >>> 13;
    return (bits & 1) === 0 ? 0x102030 : tint(this.#seed);
  }
}

function tint(value: number): number {
  return (value & 0x7f7f7f) + 0x404040;
}

function around({ x, y }: { x: number; y: number }): Rectangle {
  const left = Math.min(Math.max(0, x - 8), WIDTH);
  const top = Math.min(Math.max(0, y - 8), HEIGHT);
  return {
    x: left,
    y: top,
    width: Math.max(0, Math.min(WIDTH, x + 8) - left),
    height: Math.max(0, Math.min(HEIGHT, y + 8) - top),
  };
}
