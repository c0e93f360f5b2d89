import { createRandom, type Random } from "../random.js";

/** How a guest writes: whole blocks anywhere, one after the other, or as a file system does. */
type WritePattern = "random" | "sequential" | "filesystem";

export const writePatterns: readonly WritePattern[] = [
  "random",
  "sequential",
  "filesystem",
];

export interface WriteProgram {
  readonly pattern: WritePattern;
  /** How much is written. */
  readonly bytes: number;
  /** The same seed writes the same bytes to the same regions. Default 1. */
  readonly seed?: number;
  /** Part of the disk that is written to, in bytes. Default: the whole disk. */
  readonly offset?: number;
  readonly length?: number;
}

/** One write of a guest. */
interface GuestWrite {
  readonly offset: number;
  readonly bytes: Buffer;
}

interface Region {
  readonly offset: number;
  readonly length: number;
}

const KiB4 = 4096;
const KiB64 = 64 * 1024;
const MiB = 2 ** 20;
/** Of a file system: a group of blocks with its inodes, and the journal. */
const GROUP = 128 * MiB;
const JOURNAL = 32 * MiB;

/** Returns the writes of a program to a disk of this size, in order. */
export function* writesOf(
  program: WriteProgram,
  size: number,
): Generator<GuestWrite> {
  const random = createRandom(program.seed ?? 1);
  const offset = Math.min(program.offset ?? 0, size);
  const length = Math.min(program.length ?? size, size - offset);
  const regions = patterns[program.pattern]({ offset, length }, random);
  let left = Math.min(program.bytes, length === 0 ? 0 : program.bytes);
  for (const region of regions) {
    if (left <= 0) return;
    const count = Math.min(region.length, left);
    yield { offset: region.offset, bytes: content(count, random) };
    left -= count;
  }
}

type RegionPattern = (region: Region, random: Random) => Generator<Region>;

const patterns: Readonly<Record<WritePattern, RegionPattern>> = {
  random: randomBlocks,
  sequential: sequentialPieces,
  filesystem: fileSystem,
};

/** Each block of 64 KiB once, in an order that jumps; then again. */
function* randomBlocks(
  { offset, length }: Region,
  random: Random,
): Generator<Region> {
  const count = Math.max(1, Math.floor(length / KiB64));
  const size = Math.min(KiB64, length);
  const step = coprime(count, random);
  for (let at = random.integer(count); ; at = (at + step) % count)
    yield { offset: offset + at * KiB64, length: size };
}

/** Steps of this many visit all of `count` numbers. */
function coprime(count: number, random: Random): number {
  const divisor = (a: number, b: number): number =>
    b === 0 ? a : divisor(b, a % b);
  let step = Math.max(1, Math.floor(count * (0.3 + 0.4 * random.next())));
  while (divisor(count, step) !== 1) step++;
  return step;
}

function* sequentialPieces(
  { offset, length }: Region,
  random: Random,
): Generator<Region> {
  let at = random.integer(Math.max(1, Math.floor(length / MiB))) * MiB;
  for (;;) {
    const count = Math.min(MiB, length - at);
    yield { offset: offset + at, length: count };
    at = at + count >= length ? 0 : at + count;
  }
}

/** Files of 4 KiB to some MiB in groups, inodes beside them, and a journal that goes round. */
function* fileSystem(
  { offset, length }: Region,
  random: Random,
): Generator<Region> {
  const groups = Math.max(1, Math.floor(length / GROUP));
  const journal = Math.min(JOURNAL, Math.floor(length / 4));
  let journalAt = 0;
  const clip = (at: number, count: number): Region => ({
    offset: offset + Math.min(at, Math.max(0, length - KiB4)),
    length: Math.max(1, Math.min(count, length - at)),
  });
  for (;;) {
    const group = random.integer(groups) * GROUP;
    const inodes = group + random.integer(64) * KiB4;
    yield clip(journalAt, KiB4 * (1 + random.integer(4)));
    yield clip(inodes, KiB4);
    journalAt = (journalAt + 4 * KiB4) % Math.max(KiB4, journal);
    const room = Math.min(GROUP, length) - MiB;
    const start = group + MiB + random.integer(Math.max(1, room / KiB4)) * KiB4;
    const file = KiB4 << random.integer(11);
    for (let done = 0; done < file && start + done < length; done += MiB)
      yield clip(start + done, Math.min(MiB, file - done));
  }
}

const words = Buffer.from(
  "2026-11-21T12:00:03 server request finished user=root status=200 bytes=1024 error none\n",
);

/** Pages of noise, of text, and a few of zeros: about half as large when compressed. */
function content(length: number, random: Random): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += KiB4) {
    const page = bytes.subarray(at, at + KiB4);
    const kind = random.integer(16);
    if (kind < 8) noise(page, random.integer(2 ** 32));
    else if (kind < 15) page.fill(words).write(String(random.integer(2 ** 32)));
  }
  // Never all zeros: the write is to be seen.
  if (length > 0) bytes[0] = 1 + random.integer(255);
  return bytes;
}

function noise(page: Buffer, seed: number): void {
  let word = seed | 1;
  for (let at = 0; at + 4 <= page.length; at += 4) {
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    page.writeInt32LE(word, at);
  }
}
