import type { FileHandle } from "node:fs/promises";
import type { FrameCipher } from "./frame-cipher.js";
import { toFrame, type Frame } from "./frame.js";
import { HEAD_BYTES } from "./file-head.js";
import { HEADER_BYTES, readHeader, sealedBytes } from "./frame-header.js";

/** Frames read ahead of the one that is taken; a frame has a megabyte or two. */
const AHEAD = 4;

interface Opening {
  readonly frame: Promise<Frame>;
  readonly end: number;
}

/** Reads a file's frames up to the first that is not as it was written. */
export class FrameReader {
  readonly #file: FileHandle;
  readonly #size: number;
  readonly #cipher: FrameCipher;
  #good = HEAD_BYTES;
  #count = 0;
  #buffer = Buffer.alloc(0);

  constructor(file: FileHandle, size: number, cipher: FrameCipher) {
    this.#file = file;
    this.#size = size;
    this.#cipher = cipher;
  }

  /** Where the frames that were taken end. */
  get good(): number {
    return this.#good;
  }

  get count(): number {
    return this.#count;
  }

  async *frames(): AsyncGenerator<Frame, void, undefined> {
    const opening: Opening[] = [];
    for await (const one of this.#sealed()) {
      opening.push(one);
      if (opening.length < AHEAD) continue;
      const frame = await this.#take(opening.shift()!);
      if (frame === undefined) return;
      yield frame;
    }
    for (const one of opening) {
      const frame = await this.#take(one);
      if (frame === undefined) return;
      yield frame;
    }
  }

  async #take({ frame, end }: Opening): Promise<Frame | undefined> {
    try {
      const taken = await frame;
      this.#good = end;
      this.#count++;
      return taken;
    } catch {
      return undefined;
    }
  }

  /** One read a frame: it brings the next one's header along. */
  async *#sealed(): AsyncGenerator<Opening, void, undefined> {
    let at = HEAD_BYTES + HEADER_BYTES;
    let header = Buffer.from(await this.#read(HEAD_BYTES, HEADER_BYTES));
    for (let sequence = 0; ; sequence++) {
      const facts = readHeader(header);
      if (facts?.sequence !== sequence) return;
      const length = sealedBytes(facts);
      const end = at + length;
      if (end > this.#size) return;
      const bytes = await this.#read(at, length + HEADER_BYTES);
      if (bytes.length < length) return;
      // It has taken a copy when it returns: the next frame is read over this one.
      const frame = this.#cipher
        .open(header, facts.indexBytes, bytes.subarray(0, length))
        .then(({ index, records }) => toFrame(index, records));
      // Looked at in its turn.
      frame.catch(() => undefined);
      yield { frame, end };
      header = Buffer.from(bytes.subarray(length));
      at = end + HEADER_BYTES;
    }
  }

  /** Less than `length` at the file's end. Valid until the next read. */
  async #read(at: number, length: number): Promise<Buffer> {
    const room = Math.min(length, Math.max(0, this.#size - at));
    if (this.#buffer.length < room)
      this.#buffer = Buffer.allocUnsafeSlow(2 * room);
    const { bytesRead } = await this.#file.read(this.#buffer, 0, room, at);
    return this.#buffer.subarray(0, bytesRead);
  }
}
