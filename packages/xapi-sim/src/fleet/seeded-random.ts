/**
 * A small seeded generator (sfc32) made for 100,000 objects: its uuids are flat
 * strings at a third of the price. The same seed gives the same fleet on every
 * machine. Not for secrets.
 */
export interface SeededRandom {
  /** A 32-bit unsigned integer. */
  uint32(): number;
  /** Returns a number in [0, 1). */
  next(): number;
  /** An integer in [low, high], both included. */
  int(low: number, high: number): number;
  /** True with the given probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A random (version 4) uuid. */
  uuid(): string;
  /** `OpaqueRef:` and a uuid. */
  ref(): string;
}

/** The same seed gives the same numbers on every machine (sfc32). */
export function createSeededRandom(seed: string): SeededRandom {
  const uint32 = sfc32(seed);
  const next = () => uint32() / 4294967296;
  const int = (low: number, high: number) =>
    low + Math.floor(next() * (high - low + 1));
  return {
    uint32,
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    uuid: () =>
      writeUuid(uint32).toString("latin1", PREFIX.length, TEXT_LENGTH),
    ref: () => writeUuid(uint32).toString("latin1", 0, TEXT_LENGTH),
  };
}

/** FNV-1a of a text, 32 bits: the way from a name to a number that never changes. */
export function hashText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let i = 0; i < text.length; i++)
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** A uuid that is a pure function of a text. */
export function uuidOf(text: string): string {
  return createSeededRandom(text).uuid();
}

function sfc32(seed: string): () => number {
  let a = hashText(seed);
  let b = hashText(seed, 0x9e3779b9);
  let c = hashText(seed, 0x85ebca6b);
  let counter = 1;
  const step = () => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) step();
  return step;
}

const PREFIX = "OpaqueRef:";
const TEXT_LENGTH = PREFIX.length + 36;
const HEX = Buffer.from("0123456789abcdef", "latin1");

// One scratch buffer: a flat string from it costs a third of one that is concatenated, and no rope stays behind.
const scratch = Buffer.alloc(TEXT_LENGTH);
scratch.write(`${PREFIX}--------------------------------------`, "latin1");
const digitAt = [...Array(36).keys()]
  .filter((i) => i !== 8 && i !== 13 && i !== 18 && i !== 23)
  .map((i) => PREFIX.length + i);

function writeUuid(uint32: () => number): Buffer {
  for (let digit = 0; digit < 32; digit += 8) {
    let word = uint32();
    for (let i = 0; i < 8; i++) {
      scratch[digitAt[digit + i]!] = HEX[word & 15]!;
      word >>>= 4;
    }
  }
  scratch[PREFIX.length + 14] = HEX[4]!;
  scratch[PREFIX.length + 19] = HEX[8 + (scratch[PREFIX.length + 19]! & 3)]!;
  return scratch;
}
