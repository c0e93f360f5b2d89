import { createHash } from "node:crypto";

/*
 * A parity file: the exclusive or of packs, each filled up with zeros to the
 * longest. Together with all but one of them it gives the one that is missing.
 *
 *   8       magic
 *   4       number of packs
 *   36 x n  packs: 32 name, 4 size
 *   ..      parity, as long as the longest pack
 */
const MAGIC = Buffer.from("XOBKPAR1", "latin1");
const MEMBER_SIZE = 36;
/** Enough for a header of 16 packs. */
export const MAX_HEADER_SIZE = 1024;

export interface ParityMember {
  /** Hexadecimal name of a pack. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/** A parity file ready to be stored. */
export interface FinishedParity {
  /** Hexadecimal SHA-256 of its bytes. */
  readonly name: string;
  readonly parts: readonly Buffer[];
}

/** Path of a parity file in the repository. @param name hexadecimal SHA-256 of its bytes */
export function parityFile(name: string): string {
  return `parity/${name}`;
}

/** Adds packs, or removes them: both are the same. */
export class ParityBuilder {
  #parity = Buffer.alloc(0);
  readonly #members = new Map<string, number>();

  get count(): number {
    return this.#members.size;
  }

  /** @param bytes of the whole pack, or of the parity of all `members` */
  add(members: readonly ParityMember[], bytes: Buffer): void {
    this.#xor(bytes);
    for (const { name, size } of members)
      if (!this.#members.delete(name)) this.#members.set(name, size);
  }

  finish(): FinishedParity {
    const members = [...this.#members].sort(([a], [b]) => (a < b ? -1 : 1));
    const head = Buffer.alloc(MAGIC.length + 4);
    MAGIC.copy(head);
    head.writeUInt32BE(members.length, MAGIC.length);
    const table = members.map(([name, size]) => {
      const bytes = Buffer.alloc(MEMBER_SIZE);
      bytes.write(name, "hex");
      bytes.writeUInt32BE(size, 32);
      return bytes;
    });
    const length = Math.max(0, ...members.map(([, size]) => size));
    const parity = this.#parity.subarray(0, length);
    const parts = [head, ...table, parity];
    const hash = createHash("sha256");
    for (const part of parts) hash.update(part);
    return { name: hash.digest("hex"), parts };
  }

  /** The bytes of a pack, after all others of its group were removed. */
  remainder(size: number): Buffer {
    return this.#parity.subarray(0, size);
  }

  #xor(bytes: Buffer): void {
    if (bytes.length > this.#parity.length) {
      // Whole words, so that the loop below needs no rest.
      const larger = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
      this.#parity.copy(larger);
      this.#parity = larger;
    }
    const words = Math.floor(bytes.length / 4);
    const source = bytes.byteOffset % 4 === 0 ? bytes : copyAligned(bytes);
    const from = new Uint32Array(source.buffer, source.byteOffset, words);
    const to = new Uint32Array(
      this.#parity.buffer,
      this.#parity.byteOffset,
      words,
    );
    for (let i = 0; i < words; i++) to[i]! ^= from[i]!;
    for (let i = words * 4; i < bytes.length; i++)
      this.#parity[i]! ^= bytes[i]!;
  }
}

interface ParityHeader {
  readonly members: readonly ParityMember[];
  /** Where the parity begins. */
  readonly offset: number;
}

/** @throws Error if the bytes do not begin with the header of a parity file */
export function parseParityHeader(bytes: Buffer): ParityHeader {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new Error("no parity file");
  const count = bytes.readUInt32BE(MAGIC.length);
  const start = MAGIC.length + 4;
  const offset = start + count * MEMBER_SIZE;
  if (bytes.length < offset) throw new Error("parity file too short");
  const members = Array.from({ length: count }, (_, i) => {
    const at = start + i * MEMBER_SIZE;
    return {
      name: bytes.subarray(at, at + 32).toString("hex"),
      size: bytes.readUInt32BE(at + 32),
    };
  });
  return { members, offset };
}

function copyAligned(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
