import { hashText } from "../fleet/seeded-random.js";

/** What a disk contained before anything was written to it. */
export interface InitialDisk {
  /** Disks with the same seed have the same initial contents. */
  readonly seed: string;
  /** Bytes; whatever is behind it reads as zeros. */
  readonly size: number;
}

const MiB = 2 ** 20;
/** One MiB in this many contains data; the rest of a disk is zero. */
const SPARSENESS = 64;
/** MiBs of a disk that may contain data, so that exports of large disks stay small. */
const LIMIT = 256;
const PAGE = 4096;

/**
 * The initial contents of a disk: a pure function of its seed and the offset, never
 * stored. The first MiB and every 64th of the first 256 MiB contain data.
 */
export class InitialContent {
  readonly #seed: string;
  readonly size: number;
  readonly #phase: number;
  #page: { readonly index: number; readonly bytes: Buffer } | undefined;

  constructor({ seed, size }: InitialDisk) {
    this.#seed = seed;
    this.size = size;
    this.#phase = hashText(seed) % SPARSENESS;
  }

  get seed(): string {
    return this.#seed;
  }

  hasData(offset: number): boolean {
    const index = Math.floor(offset / MiB);
    return (
      offset < this.size &&
      (index === 0 || (index < LIMIT && index % SPARSENESS === this.#phase))
    );
  }

  /** Bytes behind which there are only zeros. */
  get end(): number {
    return Math.min(this.size, LIMIT * MiB);
  }

  read(offset: number, into: Buffer): void {
    for (let done = 0; done < into.length;) {
      const at = offset + done;
      const count = Math.min(into.length - done, MiB - (at % MiB));
      const part = into.subarray(done, done + count);
      if (this.hasData(at)) this.#noise(at, part);
      else part.fill(0);
      done += count;
    }
    const over = offset + into.length - this.size;
    if (over > 0) into.fill(0, Math.max(0, into.length - over));
  }

  /** A page of noise, repeated: it compresses as disks do. */
  #noise(offset: number, into: Buffer): void {
    const page = this.#pageOf(Math.floor(offset / MiB));
    for (let done = 0; done < into.length;)
      done += page.copy(into, done, (offset + done) % PAGE);
  }

  #pageOf(index: number): Buffer {
    if (this.#page?.index !== index)
      this.#page = { index, bytes: noise(hashText(`${this.#seed}:${index}`)) };
    return this.#page.bytes;
  }
}

/** Xorshift: the same number gives the same page. */
function noise(seed: number): Buffer {
  const page = Buffer.alloc(PAGE);
  let word = seed | 1;
  for (let at = 0; at < PAGE; at += 4) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    page.writeInt32LE(word, at);
  }
  return page;
}
