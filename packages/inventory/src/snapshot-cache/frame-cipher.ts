import { hkdfSync, randomFillSync, webcrypto } from "node:crypto";
import {
  indexIv,
  IV_BYTES,
  recordsIv,
  TAG_BYTES,
  writeHeader,
} from "./frame-header.js";

const { subtle } = webcrypto;

/**
 * The two parts of a frame. Records are encrypted separately, so that
 * decryption returns them in an ArrayBuffer of their own, which the store
 * adopts without copying.
 */
export interface FrameParts<Bytes> {
  readonly index: Bytes;
  readonly records: Bytes;
}

/**
 * Encrypts the frames of one file with AES-256-GCM, in libuv's thread pool (the
 * call itself copies the bytes: 0.2 ms per megabyte). Records contain secrets
 * of the pool, so they are never written in plain text; authentication rejects
 * frames that this server did not write. The key of a file is derived
 * (HKDF-SHA-256) from the master key, the file head and the pool id.
 */
export class FrameCipher {
  readonly #key: webcrypto.CryptoKey;

  static async create(
    masterKey: Uint8Array,
    head: Uint8Array,
    poolId: string,
  ): Promise<FrameCipher> {
    // Part of the on-disk format: another text means another key.
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

  /**
   * Encrypts a frame. The caller may reuse the buffers as soon as the call has
   * returned (before the promise resolves). Resolves with the buffers to write,
   * in order: header, index, records.
   */
  async encrypt(
    sequence: number,
    { index, records }: FrameParts<Uint8Array>,
  ): Promise<Uint8Array[]> {
    const header = writeHeader(
      { sequence, indexBytes: index.length, recordBytes: records.length },
      randomFillSync(new Uint8Array(2 * IV_BYTES)),
    );
    const encrypted = await Promise.all([
      subtle.encrypt(
        this.#algorithm(indexIv(header), header),
        this.#key,
        index,
      ),
      subtle.encrypt(
        this.#algorithm(recordsIv(header), header),
        this.#key,
        records,
      ),
    ]);
    return [header, ...encrypted.map((part) => new Uint8Array(part))];
  }

  /**
   * Decrypts the two parts behind a header. Rejects when header or parts differ
   * from what was encrypted.
   */
  async decrypt(
    header: Buffer,
    indexBytes: number,
    encrypted: Buffer,
  ): Promise<FrameParts<ArrayBuffer>> {
    const indexEnd = indexBytes + TAG_BYTES;
    const [index, records] = await Promise.all([
      subtle.decrypt(
        this.#algorithm(indexIv(header), header),
        this.#key,
        encrypted.subarray(0, indexEnd),
      ),
      subtle.decrypt(
        this.#algorithm(recordsIv(header), header),
        this.#key,
        encrypted.subarray(indexEnd),
      ),
    ]);
    return { index, records };
  }

  #algorithm(iv: Uint8Array, additionalData: Uint8Array) {
    return { name: "AES-GCM", iv, additionalData };
  }
}
