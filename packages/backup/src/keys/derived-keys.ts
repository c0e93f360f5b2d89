import { createHmac } from "node:crypto";

/** Bytes of a chunk id. */
export const ID_SIZE = 16;
const NO_SALT = Buffer.alloc(0);

/** All keys of a repository, derived from its one random key of 32 bytes. */
export class RepositoryKey {
  readonly #key: Buffer;
  readonly #idKey: Buffer;
  readonly #macKey: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
    this.#idKey = derive(key, NO_SALT, "chunk id");
    this.#macKey = derive(key, NO_SALT, "mac");
  }

  /** Anyone who has these bytes can read and write the repository. */
  get bytes(): Buffer {
    return this.#key;
  }

  /** The key of one pack or sealed file; `salt` is random and stored in its header. */
  fileKey(salt: Uint8Array, purpose: "pack" | "sealed"): Buffer {
    return derive(this.#key, salt, purpose);
  }

  /** The key of {@link chunkIdOf}. */
  get chunkIdKey(): Buffer {
    return this.#idKey;
  }

  /** The id of a chunk. */
  chunkId(plain: Uint8Array): Buffer {
    return chunkIdOf(this.#idKey, plain);
  }

  /** Hexadecimal MAC of a text that is stored in the clear. */
  mac(text: string): string {
    return createHmac("sha256", this.#macKey).update(text).digest("hex");
  }
}

/** The id of a chunk. Without the key it cannot be computed from known content. */
export function chunkIdOf(key: Uint8Array, plain: Uint8Array): Buffer {
  return createHmac("sha256", key).update(plain).digest().subarray(0, ID_SIZE);
}

/**
 * HKDF-SHA-256 (RFC 5869) with a result of 32 bytes, which is one step of its expansion. By two HMACs, because
 * `hkdfSync` of Node.js 20 takes more than twice the CPU time, and each small file of a repository has a key.
 */
function derive(key: Buffer, salt: Uint8Array, purpose: string): Buffer {
  const extracted = createHmac("sha256", salt).update(key).digest();
  return createHmac("sha256", extracted)
    .update(`xo-backup ${purpose}\u0001`)
    .digest();
}
