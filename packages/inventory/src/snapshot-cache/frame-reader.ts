import type { FileHandle } from "node:fs/promises";
import type { FrameCipher } from "./frame-cipher.js";
import { decodeFrame, type Frame } from "./frame.js";
import { HEAD_BYTES } from "./file-head.js";
import { HEADER_BYTES, readHeader, encryptedBytes } from "./frame-header.js";

/**
 * Frames that are read and decrypted ahead of the one that the caller
 * processes; a frame has 1 to 2 MB.
 */
const READ_AHEAD = 4;

interface PendingFrame {
  readonly frame: Promise<Frame>;
  /** Offset in the file behind the frame. */
  readonly end: number;
}

/**
 * Reads the frames of a file and stops at the first one that is incomplete or
 * cannot be decrypted.
 */
export class FrameReader {
  readonly #file: FileHandle;
  readonly #size: number;
  readonly #cipher: FrameCipher;
  #validBytes = HEAD_BYTES;
  #frameCount = 0;
  #buffer = Buffer.alloc(0);

  constructor(file: FileHandle, size: number, cipher: FrameCipher) {
    this.#file = file;
    this.#size = size;
    this.#cipher = cipher;
  }

  /**
   * Size of the valid part of the file: offset behind the last frame that was
   * returned.
   */
  get validBytes(): number {
    return this.#validBytes;
  }

  /** Number of frames that were returned. */
  get frameCount(): number {
    return this.#frameCount;
  }

  /** All valid frames in order. */
  async *frames(): AsyncGenerator<Frame, void, undefined> {
    const pending: PendingFrame[] = [];
    for await (const one of this.#decrypting()) {
      pending.push(one);
      if (pending.length < READ_AHEAD) continue;
      const frame = await this.#take(pending.shift()!);
      if (frame === undefined) return;
      yield frame;
    }
    for (const one of pending) {
      const frame = await this.#take(one);
      if (frame === undefined) return;
      yield frame;
    }
  }

  /** Undefined when the frame cannot be decrypted: reading stops there. */
  async #take({ frame, end }: PendingFrame): Promise<Frame | undefined> {
    try {
      const decoded = await frame;
      this.#validBytes = end;
      this.#frameCount++;
      return decoded;
    } catch {
      return undefined;
    }
  }

  /** One read call per frame: it also reads the header of the next frame. */
  async *#decrypting(): AsyncGenerator<PendingFrame, void, undefined> {
    let at = HEAD_BYTES + HEADER_BYTES;
    let header = Buffer.from(await this.#read(HEAD_BYTES, HEADER_BYTES));
    for (let sequence = 0; ; sequence++) {
      const fields = readHeader(header);
      if (fields?.sequence !== sequence) return;
      const length = encryptedBytes(fields);
      const end = at + length;
      if (end > this.#size) return;
      const bytes = await this.#read(at, length + HEADER_BYTES);
      if (bytes.length < length) return;
      // `decrypt` has copied the bytes when it returns: the next frame is read
      // into the same buffer.
      const frame = this.#cipher
        .decrypt(header, fields.indexBytes, bytes.subarray(0, length))
        .then(({ index, records }) => decodeFrame(index, records));
      // `#take` handles the rejection later; until then it must not count as
      // unhandled.
      frame.catch(() => undefined);
      yield { frame, end };
      header = Buffer.from(bytes.subarray(length));
      at = end + HEADER_BYTES;
    }
  }

  /**
   * Reads up to `length` bytes, fewer at the end of the file. The result is
   * valid until the next read.
   */
  async #read(at: number, length: number): Promise<Buffer> {
    const available = Math.min(length, Math.max(0, this.#size - at));
    if (this.#buffer.length < available)
      this.#buffer = Buffer.allocUnsafeSlow(2 * available);
    const { bytesRead } = await this.#file.read(this.#buffer, 0, available, at);
    return this.#buffer.subarray(0, bytesRead);
  }
}
