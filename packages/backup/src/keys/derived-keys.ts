import { createHmac, hkdfSync } from "node:crypto";

/** Bytes of a chunk id. */
export const ID_SIZE = 16;
const KEY_SIZE = 32;
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

function derive(key: Buffer, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(
    hkdfSync("sha256", key, salt, `xo-backup ${purpose}`, KEY_SIZE),
  );
}
