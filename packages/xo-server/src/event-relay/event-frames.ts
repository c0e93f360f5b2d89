import { createCipheriv, createDecipheriv } from "node:crypto";
import { XoError } from "@xo-server/model";

/**
 * A frame: the length of its content in four bytes, the content encrypted with AES-256-GCM, the
 * authentication tag. The nonce is the number of the frame, so that none can be left out,
 * repeated or exchanged. The key is that of one stream.
 */
const CIPHER = "aes-256-gcm";
const LENGTH_BYTES = 4;
const TAG_BYTES = 16;

/** Size of a key, in bytes. */
export const FRAME_KEY_BYTES = 32;

/** Encrypts the frames of one stream. */
export class FrameWriter {
  readonly #key: Uint8Array;
  #count = 0;

  constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** @returns the next frame */
  write(content: Uint8Array): Buffer {
    const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#count++));
    const head = Buffer.alloc(LENGTH_BYTES);
    head.writeUInt32BE(content.length);
    const encrypted = cipher.update(content);
    cipher.final();
    return Buffer.concat([head, encrypted, cipher.getAuthTag()]);
  }
}

/** Decrypts the frames of one stream. */
export class FrameReader {
  readonly #key: Uint8Array;
  readonly #maxBytes: number;
  #count = 0;
  #chunks: Buffer[] = [];
  #length = 0;

  /** @param maxBytes of the content of a frame */
  constructor(key: Uint8Array, maxBytes: number) {
    this.#key = key;
    this.#maxBytes = maxBytes;
  }

  /**
   * @param chunk the next bytes of the stream
   * @returns the contents of the frames that are complete now
   * @throws XoError ANSWER_TOO_LARGE; Error a frame is not authentic
   */
  read(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const contents: Buffer[] = [];
    for (;;) {
      const length = this.#nextLength();
      const end = LENGTH_BYTES + length + TAG_BYTES;
      if (this.#length < end) return contents;
      const bytes = this.#joined();
      contents.push(this.#decrypt(bytes.subarray(LENGTH_BYTES, end), length));
      this.#chunks = [bytes.subarray(end)];
      this.#length -= end;
    }
  }

  /** Infinity: not received yet. @throws XoError ANSWER_TOO_LARGE */
  #nextLength(): number {
    if (this.#length < LENGTH_BYTES) return Infinity;
    if (this.#chunks[0]!.length < LENGTH_BYTES) this.#joined();
    const bytes = this.#chunks[0]!.readUInt32BE();
    const limit = this.#maxBytes;
    if (bytes > limit) throw new XoError("ANSWER_TOO_LARGE", { bytes, limit });
    return bytes;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0]!;
  }

  #decrypt(bytes: Buffer, length: number): Buffer {
    const nonce = nonceOf(this.#count++);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce);
    decipher.setAuthTag(bytes.subarray(length));
    const content = decipher.update(bytes.subarray(0, length));
    decipher.final();
    return content;
  }
}

function nonceOf(count: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(count), 4);
  return nonce;
}
