import { createCipheriv } from "node:crypto";
import type { BlockSource } from "../src/write/block-source.js";
import type { Range } from "../src/write/block-runs.js";
import { integer } from "./random.js";

export const BLOCK = 64 * 1024;

/** A disk in memory that remembers what was written to it. */
export class MemoryDisk implements BlockSource {
  readonly bytes: Buffer;
  changed: Range[] = [];
  bytesRead = 0;

  constructor(size: number) {
    this.bytes = Buffer.alloc(size);
  }

  get size(): number {
    return this.bytes.length;
  }

  async read(offset: number, into: Buffer): Promise<void> {
    this.bytesRead += into.length;
    this.bytes.copy(into, 0, offset, offset + into.length);
  }

  write(offset: number, bytes: Buffer): void {
    bytes.copy(this.bytes, offset);
    this.changed.push({ offset, length: bytes.length });
  }

  /** @returns the ranges written since the last call */
  takeChanged(): Range[] {
    const { changed } = this;
    this.changed = [];
    return changed;
  }
}

/** Bytes that compress to about a half: each other one is random. */
export function halfRandom(random: () => number, length: number): Buffer {
  const key = Buffer.from(
    Array.from({ length: 16 }, () => integer(random, 256)),
  );
  const cipher = createCipheriv("aes-128-ctr", key, Buffer.alloc(16));
  const bytes = new Uint8Array(
    cipher.update(Buffer.alloc(length + 4 - (length % 4))),
  );
  const words = new Uint32Array(
    bytes.buffer,
    bytes.byteOffset,
    bytes.length / 4,
  );
  for (let i = 0; i < words.length; i++) words[i] = words[i]! & 0x00ff00ff;
  return Buffer.from(bytes.buffer, bytes.byteOffset, length);
}

/** Writes random blocks, some of them zero, at random places. */
export function writeRandomly(
  disk: MemoryDisk,
  random: () => number,
  writes: number,
): void {
  for (let i = 0; i < writes; i++) {
    const offset = integer(random, disk.size);
    const length = Math.min(1 + integer(random, 3 * BLOCK), disk.size - offset);
    const isZero = random() < 0.2;
    disk.write(
      offset,
      isZero ? Buffer.alloc(length) : halfRandom(random, length),
    );
  }
}
