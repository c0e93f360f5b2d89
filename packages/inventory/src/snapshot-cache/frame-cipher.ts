import { webcrypto } from "node:crypto";
import { createHeader, indexIv, recordsIv } from "./frame-header.js";

const { subtle } = webcrypto;

/**
 * The two parts of a frame. Records are encrypted separately, so that
 * decryption returns them in a buffer of their own, which the store
 * adopts without copying.
 */
export interface FrameParts {
  readonly index: Uint8Array;
  readonly records: Uint8Array;
}

export interface DecryptedParts {
  readonly index: ArrayBuffer;
  /** They stay in memory, see RecordBuffer. */
  readonly records: SharedArrayBuffer;
}

/**
 * Encrypts the frames of one file with AES-256-GCM, in libuv's thread pool (the
 * call itself copies the bytes: 0.2 ms per megabyte). Records contain secrets
 * of the pool, so they are never written in plain text; authentication rejects
 * frames that this server did not write. The counterpart is `decryptFrame`; a thread
 * uses `encryptFrame`.
 */
export class FrameCipher {
  readonly #cryptoKey: webcrypto.CryptoKey;
  /** Key of the file, 32 bytes. */
  readonly key: Uint8Array;

  /** @param key of the file (`fileKey`) */
  static async create(key: Uint8Array): Promise<FrameCipher> {
    return new FrameCipher(
      key,
      await subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]),
    );
  }

  private constructor(key: Uint8Array, cryptoKey: webcrypto.CryptoKey) {
    this.key = key;
    this.#cryptoKey = cryptoKey;
  }

  /**
   * Encrypts a frame. The caller may reuse the buffers as soon as the call has
   * returned (before the promise resolves). Resolves with the buffers to write,
   * in order: header, index, records.
   */
  async encrypt(
    sequence: number,
    { index, records }: FrameParts,
  ): Promise<Uint8Array[]> {
    const header = createHeader({
      sequence,
      indexBytes: index.length,
      recordBytes: records.length,
    });
    const encrypted = await Promise.all([
      subtle.encrypt(
        this.#algorithm(indexIv(header), header),
        this.#cryptoKey,
        index,
      ),
      subtle.encrypt(
        this.#algorithm(recordsIv(header), header),
        this.#cryptoKey,
        records,
      ),
    ]);
    return [header, ...encrypted.map((part) => new Uint8Array(part))];
  }

  #algorithm(iv: Uint8Array, additionalData: Uint8Array) {
    return { name: "AES-GCM", iv, additionalData };
  }
}
