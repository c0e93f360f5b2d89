import { createCipheriv } from "node:crypto";
import { RepositoryError } from "../errors.js";
import { ID_SIZE, type RepositoryKey } from "../keys/derived-keys.js";
import type { ByteRange } from "../storage/storage.js";
import { decrypt, type ChunkSeal } from "./chunk-seal.js";
import { compressChunk, openChunk } from "./compression.js";
import { CHUNK_SIZE, PACK_ENTRIES } from "./limits.js";
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

/** What is read at first from the end of a pack: most indexes are smaller. */
const TAIL_SIZE = 16 * 1024;

/** Reads parts of a pack. */
type ReadParts = (parts: readonly ByteRange[]) => Promise<Buffer[]>;

/** The index of one pack, and its key. */
export class PackIndex {
  readonly name: string;
  readonly count: number;
  readonly #key: Buffer;
  readonly #repositoryKey: RepositoryKey;
  readonly #entries: Buffer;
  /** Where each chunk begins; one more for the end of the last. */
  readonly #offsets: Uint32Array;

  private constructor(
    name: string,
    keys: { pack: Buffer; repository: RepositoryKey },
    entries: Buffer,
  ) {
    this.name = name;
    this.#key = keys.pack;
    this.#repositoryKey = keys.repository;
    this.#entries = entries;
    this.count = entries.length / ENTRY_SIZE;
    this.#offsets = new Uint32Array(this.count + 1);
    this.#offsets[0] = HEADER_SIZE;
    for (let i = 0; i < this.count; i++)
      this.#offsets[i + 1] = this.#offsets[i]! + this.storedSize(i);
  }

  /**
   * @param size bytes of the pack's file
   * @throws RepositoryError `damaged`; what `read` throws
   */
  static async read(
    key: RepositoryKey,
    { name, size }: { name: string; size: number },
    read: ReadParts,
  ): Promise<PackIndex> {
    const tailSize = Math.min(size, TAIL_SIZE);
    const [header, tail] = (await read([
      { offset: 0, length: HEADER_SIZE },
      { offset: size - tailSize, length: tailSize },
    ])) as [Buffer, Buffer];
    const footer = tail.subarray(-FOOTER_SIZE);
    const length = indexLength(header, footer);
    if (length === undefined || length + HEADER_SIZE + FOOTER_SIZE > size)
      throw damaged(name, new Error("no header or no footer"));
    const stored =
      length + FOOTER_SIZE <= tail.length
        ? tail.subarray(-FOOTER_SIZE - length, -FOOTER_SIZE)
        : (await read([{ offset: size - FOOTER_SIZE - length, length }]))[0]!;
    try {
      const packKey = key.fileKey(header.subarray(PACK_MAGIC.length), "pack");
      const data = Buffer.concat([header, footer]);
      const entries = decrypt(
        { key: packKey, nonce: indexNonce(), data },
        stored,
      );
      const keys = { pack: packKey, repository: key };
      const index = new PackIndex(name, keys, entries);
      if (index.offset(index.count) + length + FOOTER_SIZE !== size)
        throw new Error("wrong size");
      return index;
    } catch (cause) {
      throw damaged(name, cause);
    }
  }

  /** The index of a pack that is in memory. @throws RepositoryError `damaged` */
  static readFrom(
    key: RepositoryKey,
    name: string,
    bytes: Buffer,
  ): Promise<PackIndex> {
    return PackIndex.read(key, { name, size: bytes.length }, async (parts) =>
      parts.map(({ offset, length }) =>
        bytes.subarray(offset, offset + length),
      ),
    );
  }

  id(number: number): Buffer {
    const start = number * ENTRY_SIZE;
    return this.#entries.subarray(start, start + ID_SIZE);
  }

  /** Bytes with the tag. */
  storedSize(number: number): number {
    return this.#entries.readUInt32BE(number * ENTRY_SIZE + ID_SIZE);
  }

  plainSize(number: number): number {
    return this.#entries.readUInt32BE(number * ENTRY_SIZE + ID_SIZE + 4);
  }

  offset(number: number): number {
    return this.#offsets[number]!;
  }

  /** @returns the number of the chunk, or -1 */
  find(id: Buffer): number {
    for (let i = 0; i < this.count; i++) if (this.id(i).equals(id)) return i;
    return -1;
  }

  /**
   * Decrypts, decompresses and compares with the id.
   * @param stored exactly the bytes of this chunk
   * @param into memory of `allocateForChunks` that may be used for the result
   * @throws RepositoryError `damaged`
   */
  async open(number: number, stored: Buffer, into?: Buffer): Promise<Buffer> {
    try {
      const start = number * ENTRY_SIZE;
      const entry = this.#entries.subarray(start, start + ENTRY_SIZE);
      const size = this.plainSize(number);
      if (size > 2 * CHUNK_SIZE) throw new Error("chunk too large");
      const seal = {
        key: this.#key,
        nonce: entryNonce(number),
        data: chunkData(entry),
        idKey: this.#repositoryKey.chunkIdKey,
        id: this.id(number),
      };
      const method = entry.readUInt8(ID_SIZE + 8);
      return await openChunk(stored, { method, seal, size, into });
    } catch (cause) {
      throw damaged(this.name, cause);
    }
  }

  /**
   * Compresses and encrypts a chunk again. The nonce is used a second time: the result must be
   * used only where it is what it was.
   * @returns its bytes with the tag; undefined: the content is another, or zstd makes other bytes of it now
   */
  async seal(number: number, plain: Buffer): Promise<Buffer | undefined> {
    if (!this.#repositoryKey.chunkId(plain).equals(this.id(number)))
      return undefined;
    const { method, stored } = await compressChunk(plain);
    const start = number * ENTRY_SIZE;
    const entry = this.#entries.subarray(start, start + ENTRY_SIZE);
    const isAlike =
      method === entry.readUInt8(ID_SIZE + 8) &&
      stored.length + TAG_SIZE === this.storedSize(number);
    if (!isAlike) return undefined;
    const nonce = entryNonce(number);
    return encrypt({ key: this.#key, nonce, data: chunkData(entry) }, stored);
  }
}

/** Bytes of the index with its tag; undefined: header or footer is none of a pack. */
function indexLength(header: Buffer, footer: Buffer): number | undefined {
  if (
    footer.length < FOOTER_SIZE ||
    !header.subarray(0, PACK_MAGIC.length).equals(PACK_MAGIC) ||
    !footer.subarray(8).equals(FOOTER_MAGIC)
  )
    return undefined;
  const length = footer.readUInt32BE(0);
  const count = footer.readUInt32BE(4);
  const isRight =
    count <= PACK_ENTRIES && length === count * ENTRY_SIZE + TAG_SIZE;
  return isRight ? length : undefined;
}

function encrypt(
  { key, nonce, data }: Pick<ChunkSeal, "key" | "nonce" | "data">,
  plain: Uint8Array,
): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(data);
  return Buffer.concat([
    cipher.update(plain),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

function damaged(name: string, cause: unknown): RepositoryError {
  return new RepositoryError("damaged", `pack ${name} is damaged`, { cause });
}
