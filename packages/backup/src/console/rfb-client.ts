import type { Duplex } from "node:stream";
import { RepositoryError } from "../errors.js";
import { SocketReader } from "../net/socket-reader.js";
import {
  Framebuffer,
  PIXEL_BYTES,
  type Rectangle,
  type ScreenSize,
} from "./framebuffer.js";

const VERSION_LENGTH = 12;
const SECURITY_NONE = 1;
const RAW = 0;
/** Pseudo-encoding: the screen has another size. */
const DESKTOP_SIZE = -223;
/** Text that a server may send: its name, its clipboard, why it refuses. */
const MAX_TEXT = 2 ** 20;
/** Messages without pixels before the client gives up. */
const MAX_MESSAGES = 10_000;
/** Each allocates a screen. A guest that starts has a few. */
const MAX_RESIZES = 32;

/** Reads the screen of a server once, over RFB (RFC 6143) without authentication. */
export class RfbClient {
  readonly #socket: Duplex;
  readonly #reader: SocketReader;

  /** @param reader of the same socket */
  constructor(socket: Duplex, reader: SocketReader) {
    this.#socket = socket;
    this.#reader = reader;
  }

  /**
   * All pixels of the screen.
   * @throws RepositoryError `source-invalid`; Error of the connection
   */
  async readScreen(): Promise<Framebuffer> {
    let screen = new Framebuffer(await this.#handshake());
    this.#setUp();
    this.#request(screen, false);
    let resizes = 0;
    for (let messages = 0; messages < MAX_MESSAGES; messages++) {
      const resized = await this.#message(screen);
      if (resized !== undefined) {
        if (++resizes > MAX_RESIZES)
          throw invalid("the screen changes its size again and again");
        screen = new Framebuffer(resized);
      }
      if (screen.isComplete) return screen;
      // The server answers a request once; what it left out comes with the next.
      if (resized !== undefined) this.#request(screen, false);
    }
    throw invalid("it sends no pixels");
  }

  async #handshake(): Promise<ScreenSize> {
    const version = (await this.#reader.read(VERSION_LENGTH)).toString(
      "latin1",
    );
    const minor = Number(/^RFB 003\.(\d{3})\n$/.exec(version)?.[1] ?? NaN);
    if (!(minor >= 3)) throw invalid("it is not an RFB server");
    const isOld = minor < 7;
    const isNew = minor >= 8;
    this.#socket.write(
      `RFB 003.00${isOld ? "3" : isNew ? "8" : "7"}\n`,
      "latin1",
    );
    await this.#authenticate({ isOld, isNew });
    // Other clients stay connected.
    this.#socket.write(Buffer.from([1]));
    const size = await this.#reader.read(20);
    await this.#skipText(await this.#uint32());
    return { width: size.readUInt16BE(0), height: size.readUInt16BE(2) };
  }

  async #authenticate({
    isOld,
    isNew,
  }: {
    readonly isOld: boolean;
    readonly isNew: boolean;
  }): Promise<void> {
    if (isOld) {
      if ((await this.#uint32()) !== SECURITY_NONE)
        throw invalid("it requires a password");
      return;
    }
    const [count = 0] = await this.#reader.read(1);
    const types = await this.#reader.read(count);
    if (!types.includes(SECURITY_NONE)) throw invalid("it requires a password");
    this.#socket.write(Buffer.from([SECURITY_NONE]));
    if (isNew && (await this.#uint32()) !== 0)
      throw invalid("it refuses the connection");
  }

  /** Pixels of PIXEL_BYTES, blue first, not compressed. */
  #setUp(): void {
    const format = Buffer.alloc(20);
    // Bits per pixel, depth, little-endian, true colour.
    format.set([8 * PIXEL_BYTES, 24, 0, 1], 4);
    format.writeUInt16BE(255, 8);
    format.writeUInt16BE(255, 10);
    format.writeUInt16BE(255, 12);
    // Shifts of red, green and blue.
    format.set([16, 8, 0], 14);
    const encodings = Buffer.alloc(12);
    encodings[0] = 2;
    encodings.writeUInt16BE(2, 2);
    encodings.writeInt32BE(RAW, 4);
    encodings.writeInt32BE(DESKTOP_SIZE, 8);
    this.#socket.write(Buffer.concat([format, encodings]));
  }

  #request({ width, height }: ScreenSize, isIncremental: boolean): void {
    const request = Buffer.alloc(10);
    request.set([3, Number(isIncremental)]);
    request.writeUInt16BE(width, 6);
    request.writeUInt16BE(height, 8);
    this.#socket.write(request);
  }

  /** @returns the new size of the screen, if it has changed */
  async #message(screen: Framebuffer): Promise<ScreenSize | undefined> {
    const type = (await this.#reader.read(1)).readUInt8();
    switch (type) {
      case 0:
        return this.#update(screen);
      case 1: {
        // Colours of a palette: not used by true colour.
        const count = (await this.#reader.read(5)).readUInt16BE(3);
        await this.#reader.read(6 * count);
        return undefined;
      }
      case 2:
        return undefined;
      case 3:
        await this.#reader.read(3);
        await this.#skipText(await this.#uint32());
        return undefined;
      default:
        throw invalid(`it sends a message of the unknown type ${type}`);
    }
  }

  async #update(screen: Framebuffer): Promise<ScreenSize | undefined> {
    const count = (await this.#reader.read(3)).readUInt16BE(1);
    for (let i = 0; i < count; i++) {
      const head = await this.#reader.read(12);
      const [x, y, width, height] = [0, 2, 4, 6].map((at) =>
        head.readUInt16BE(at),
      ) as [number, number, number, number];
      const encoding = head.readInt32BE(8);
      if (encoding === DESKTOP_SIZE) return { width, height };
      if (encoding !== RAW)
        throw invalid(`it sends pixels in the unknown encoding ${encoding}`);
      await this.#readPixels(screen, { x, y, width, height });
    }
    if (!screen.isComplete) this.#request(screen, true);
    return undefined;
  }

  async #readPixels(screen: Framebuffer, rectangle: Rectangle): Promise<void> {
    screen.check(rectangle);
    const { x, y, width, height } = rectangle;
    // Rows without bytes would be read without waiting: timers would not run meanwhile.
    if (width === 0) return;
    const row = Buffer.alloc(width * PIXEL_BYTES);
    for (let at = y; at < y + height; at++) {
      await this.#reader.readInto(row);
      screen.writeRow(x, at, row);
    }
  }

  async #uint32(): Promise<number> {
    return (await this.#reader.read(4)).readUInt32BE();
  }

  async #skipText(length: number): Promise<void> {
    if (length > MAX_TEXT) throw invalid("it sends too much text");
    await this.#reader.read(length);
  }
}

function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `console: ${reason}`);
}
