import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { ID_SIZE, type RepositoryKey } from "../keys/derived-keys.js";
import { PACK_ENTRIES, PACK_SIZE } from "./limits.js";
import {
  ENTRY_SIZE,
  FOOTER_MAGIC,
  FOOTER_SIZE,
  HEADER_SIZE,
  PACK_MAGIC,
  TAG_SIZE,
  chunkData,
  entryNonce,
  indexNonce,
} from "./pack-layout.js";

interface NewChunk {
  readonly id: Buffer;
  readonly method: number;
  /** Bytes before compression. */
  readonly plainSize: number;
  readonly stored: Uint8Array;
}

/** A pack ready to be stored. */
export interface FinishedPack {
  /** Hexadecimal SHA-256 of its bytes. */
  readonly name: string;
  readonly parts: readonly Buffer[];
  readonly size: number;
}

/** Collects chunks in memory until the pack is large enough. */
export class PackBuilder {
  readonly #key: Buffer;
  readonly #header: Buffer;
  readonly #parts: Buffer[];
  readonly #entries: Buffer[] = [];
  readonly #limit: number;
  #size: number;

  /** @param limit bytes from which it is full */
  constructor(key: RepositoryKey, limit = PACK_SIZE) {
    const salt = randomBytes(32);
    this.#limit = limit;
    this.#key = key.fileKey(salt, "pack");
    this.#header = Buffer.concat([PACK_MAGIC, salt]);
    this.#parts = [this.#header];
    this.#size = HEADER_SIZE;
  }

  get count(): number {
    return this.#entries.length;
  }

  get isFull(): boolean {
    return this.#size >= this.#limit || this.count >= PACK_ENTRIES;
  }

  /** @returns the number of the chunk in this pack */
  add({ id, method, plainSize, stored }: NewChunk): number {
    const number = this.count;
    const cipher = createCipheriv("aes-256-gcm", this.#key, entryNonce(number));
    const entry = Buffer.alloc(ENTRY_SIZE);
    id.copy(entry);
    entry.writeUInt32BE(stored.byteLength + TAG_SIZE, ID_SIZE);
    entry.writeUInt32BE(plainSize, ID_SIZE + 4);
    entry.writeUInt8(method, ID_SIZE + 8);
    cipher.setAAD(chunkData(entry));
    this.#push(cipher.update(stored), cipher.final(), cipher.getAuthTag());
    this.#entries.push(entry);
    return number;
  }

  finish(): FinishedPack {
    const cipher = createCipheriv("aes-256-gcm", this.#key, indexNonce());
    const footer = Buffer.alloc(FOOTER_SIZE);
    footer.writeUInt32BE(this.count * ENTRY_SIZE + TAG_SIZE, 0);
    footer.writeUInt32BE(this.count, 4);
    FOOTER_MAGIC.copy(footer, 8);
    cipher.setAAD(Buffer.concat([this.#header, footer]));
    const entries = cipher.update(Buffer.concat(this.#entries));
    this.#push(entries, cipher.final(), cipher.getAuthTag(), footer);
    const hash = createHash("sha256");
    for (const part of this.#parts) hash.update(part);
    return {
      name: hash.digest("hex"),
      parts: this.#parts,
      size: this.#size,
    };
  }

  #push(...parts: Buffer[]): void {
    for (const part of parts)
      if (part.length > 0) {
        this.#parts.push(part);
        this.#size += part.length;
      }
  }
}
