import { createHash, randomBytes } from "node:crypto";

export const KEY_BYTES = 32;

/** A key of AES-256. Logging or inspecting it does not reveal its bytes. */
export class Key {
  /** Identifier of eight hexadecimal digits that reveals nothing about the key. */
  readonly id: string;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.id = createHash("sha256")
      .update("xo-server store key id\0")
      .update(bytes)
      .digest("hex")
      .slice(0, 8);
  }

  static random(): Key {
    return new Key(randomBytes(KEY_BYTES));
  }

  /** @param text 32 bytes as base64 or base64url, @returns undefined if invalid */
  static parse(text: string): Key | undefined {
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
    return new Key(Buffer.from(text, "base64"));
  }

  /** For the vault and the key file only. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** Text for `parse`. For the key file only. */
  get text(): string {
    return this.#bytes.toString("base64url");
  }
}
