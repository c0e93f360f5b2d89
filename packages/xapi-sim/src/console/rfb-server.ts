import type { Duplex } from "node:stream";
import type { SimulatorClock } from "../clock.js";
import { ByteReader } from "./byte-reader.js";
import {
  defaultFormat,
  encodePixels,
  readFormat,
  writeFormat,
  type PixelFormat,
} from "./pixel-format.js";
import { HEIGHT, Screen, WIDTH, type Rectangle } from "./screen.js";

const FRAME_MS = 200;
const SECURITY_NONE = 1;
/** Limit of pasted text; a longer one ends the connection. */
const CUT_TEXT_LIMIT = 1 << 20;

/**
 * The screen of a guest over RFB 3.3, 3.7 or 3.8: no security, raw encoding, a
 * picture that changes, keys and pointer that show in it.
 */
export class RfbServer {
  readonly #stream: Duplex;
  readonly #reader: ByteReader;
  readonly #screen: Screen;
  readonly #name: string;
  readonly #clock: SimulatorClock;
  #format: PixelFormat = defaultFormat;
  #timer: unknown;
  /** The client waits for changes. */
  #requested = false;
  /** Every request is answered immediately with the whole picture: for measuring throughput. */
  readonly #eager: boolean;

  constructor(
    stream: Duplex,
    guest: {
      readonly uuid: string;
      readonly name: string;
      readonly eager?: boolean;
    },
    clock: SimulatorClock,
  ) {
    this.#eager = guest.eager === true;
    this.#stream = stream;
    this.#reader = new ByteReader(stream);
    this.#screen = new Screen(guest.uuid);
    this.#name = guest.name;
    this.#clock = clock;
  }

  /** Serves until the client disconnects or sends an invalid message. */
  async run(): Promise<void> {
    try {
      if (!(await this.#shakeHands())) return;
      this.#animate();
      while (await this.#message());
    } finally {
      this.#clock.clearTimeout(this.#timer);
      this.#stream.end();
    }
  }

  async #shakeHands(): Promise<boolean> {
    this.#stream.write("RFB 003.008\n");
    const version = (await this.#reader.read(12))?.toString("latin1") ?? "";
    const minor = Number(/^RFB 003\.(\d{3})\n$/.exec(version)?.[1] ?? -1);
    if (minor < 3) return false;
    if (minor < 7) this.#stream.write(uint32(SECURITY_NONE));
    else {
      this.#stream.write(Buffer.from([1, SECURITY_NONE]));
      if ((await this.#reader.read(1))?.[0] !== SECURITY_NONE) return false;
      if (minor >= 8) this.#stream.write(uint32(0));
    }
    // Whether the client would share the screen: always allowed.
    if ((await this.#reader.read(1)) === undefined) return false;
    const name = Buffer.from(this.#name);
    this.#stream.write(
      Buffer.concat([
        uint16(WIDTH),
        uint16(HEIGHT),
        writeFormat(this.#format),
        uint32(name.length),
        name,
      ]),
    );
    return true;
  }

  /** One message of the client. @returns whether to go on */
  async #message(): Promise<boolean> {
    // While a client does not read pictures, its messages are not read either.
    await drained(this.#stream);
    const type = (await this.#reader.read(1))?.[0];
    if (type === undefined) return false;
    const handle = this.#messages[type];
    return handle === undefined ? false : handle();
  }

  readonly #messages: Readonly<Record<number, () => Promise<boolean>>> = {
    // SetPixelFormat
    0: async () => {
      const bytes = await this.#reader.read(19);
      const format =
        bytes === undefined ? undefined : readFormat(bytes.subarray(3));
      if (format !== undefined) this.#format = format;
      return format !== undefined;
    },
    // SetEncodings: raw is always allowed, and all there is
    2: async () => {
      const bytes = await this.#reader.read(3);
      return (
        bytes !== undefined && this.#reader.skip(4 * bytes.readUInt16BE(1))
      );
    },
    // FramebufferUpdateRequest
    3: async () => {
      const bytes = await this.#reader.read(9);
      if (bytes === undefined) return false;
      if (bytes[0] === 0 || this.#eager) {
        this.#screen.takeChanges();
        this.#send([{ x: 0, y: 0, width: WIDTH, height: HEIGHT }]);
      } else {
        this.#requested = true;
        this.#flush();
      }
      return true;
    },
    // KeyEvent
    4: async () => {
      const bytes = await this.#reader.read(7);
      if (bytes?.[0] === 1) this.#screen.key(bytes.readUInt32BE(3));
      this.#flush();
      return bytes !== undefined;
    },
    // PointerEvent
    5: async () => {
      const bytes = await this.#reader.read(5);
      if (bytes !== undefined)
        this.#screen.point(bytes.readUInt16BE(1), bytes.readUInt16BE(3));
      this.#flush();
      return bytes !== undefined;
    },
    // ClientCutText
    6: async () => {
      const length = (await this.#reader.read(7))?.readUInt32BE(3) ?? Infinity;
      return length <= CUT_TEXT_LIMIT && this.#reader.skip(length);
    },
  };

  #animate(): void {
    this.#timer = this.#clock.setTimeout(() => {
      this.#screen.tick();
      this.#flush();
      this.#animate();
    }, FRAME_MS);
  }

  /** Changes are sent immediately to a client that waits for them. */
  #flush(): void {
    const ready = this.#requested && !this.#stream.writableNeedDrain;
    if (!ready || !this.#screen.hasChanges) return;
    this.#requested = false;
    this.#send(this.#screen.takeChanges());
  }

  #send(rectangles: readonly Rectangle[]): void {
    this.#stream.write(
      Buffer.concat([Buffer.from([0, 0]), uint16(rectangles.length)]),
    );
    for (const rectangle of rectangles) {
      const { x, y, width, height } = rectangle;
      const pixels = encodePixels(
        this.#format,
        this.#screen.colours(rectangle),
      );
      // Encoding 0: raw.
      const head = [uint16(x), uint16(y), uint16(width), uint16(height)];
      this.#stream.write(Buffer.concat([...head, uint32(0)]));
      this.#stream.write(pixels);
    }
  }
}

function drained(stream: Duplex): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
