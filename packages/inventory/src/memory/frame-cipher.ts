import { hkdfSync, randomFillSync, webcrypto } from "node:crypto";
import {
  indexIv,
  IV_BYTES,
  recordsIv,
  TAG_BYTES,
  writeHeader,
} from "./frame-header.js";

const { subtle } = webcrypto;

/** The two parts of a frame: records apart, so that they come out in a buffer of their own. */
export interface FrameParts<Bytes> {
  readonly index: Bytes;
  readonly records: Bytes;
}

/**
 * Seals the frames of one file with AES-256-GCM, in libuv's threads (the call
 * itself copies the bytes: 0.2 ms a megabyte). Secrets of the pool are not to be
 * read on the disk, and what does not open was not written by us. The file's key
 * follows from the master key, the file's head and the pool's id.
 */
export class FrameCipher {
  readonly #key: webcrypto.CryptoKey;

  static async create(
    masterKey: Uint8Array,
    head: Uint8Array,
    poolId: string,
  ): Promise<FrameCipher> {
    const info = `xo-server inventory ${poolId}`;
    const bytes = hkdfSync("sha256", masterKey, head, info, 32);
    const key = await subtle.importKey("raw", bytes, "AES-GCM", false, [
      "encrypt",
      "decrypt",
    ]);
    return new FrameCipher(key);
  }

  private constructor(key: webcrypto.CryptoKey) {
    this.#key = key;
  }

  /** The parts may be written over as soon as this has returned. Resolves with what goes to the disk. */
  async seal(
    sequence: number,
    { index, records }: FrameParts<Uint8Array>,
  ): Promise<Uint8Array[]> {
    const header = writeHeader(
      { sequence, indexBytes: index.length, recordBytes: records.length },
      randomFillSync(new Uint8Array(2 * IV_BYTES)),
    );
    const sealed = await Promise.all([
      subtle.encrypt(this.#with(indexIv(header), header), this.#key, index),
      subtle.encrypt(this.#with(recordsIv(header), header), this.#key, records),
    ]);
    return [header, ...sealed.map((part) => new Uint8Array(part))];
  }

  /** Rejects when a bit of header or bytes is not as it was sealed. */
  async open(
    header: Buffer,
    indexBytes: number,
    sealed: Buffer,
  ): Promise<FrameParts<ArrayBuffer>> {
    const border = indexBytes + TAG_BYTES;
    const [index, records] = await Promise.all([
      subtle.decrypt(
        this.#with(indexIv(header), header),
        this.#key,
        sealed.subarray(0, border),
      ),
      subtle.decrypt(
        this.#with(recordsIv(header), header),
        this.#key,
        sealed.subarray(border),
      ),
    ]);
    return { index, records };
  }

  #with(iv: Uint8Array, additionalData: Uint8Array) {
    return { name: "AES-GCM", iv, additionalData };
  }
}
