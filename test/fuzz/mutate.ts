import type { Random } from "../faults/seeded-random.js";

/** Longer inputs are cut. */
export const MAX_INPUT = 16_384;
const INTERESTING = [
  0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000,
  0xffffffff,
];
const NUMBERS = [
  "0",
  "-1",
  "1e999",
  "NaN",
  "9007199254740993",
  "4294967296",
  "00",
  "0x10",
  "-0",
];

type Mutation = (input: Buffer, random: Random, material: Material) => Buffer;

export interface Material {
  /** Literals of the tested code. */
  readonly words: readonly string[];
  readonly corpus: readonly Buffer[];
}

const replace = (
  input: Buffer,
  at: number,
  length: number,
  piece: Uint8Array,
) => Buffer.concat([input.subarray(0, at), piece, input.subarray(at + length)]);
const range = (input: Buffer, random: Random) => {
  const at = random(input.length + 1);
  return {
    at,
    length: random(Math.min(input.length - at, 1 + random(64)) + 1),
  };
};

const mutations: readonly Mutation[] = [
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random(copy.length)]! ^= 1 << random(8);
    return copy;
  },
  (input, random) => {
    const copy = Buffer.from(input);
    if (copy.length > 0) copy[random(copy.length)] = random(256);
    return copy;
  },
  (input, random) => {
    const { at, length } = range(input, random);
    return replace(input, at, length, Buffer.alloc(0));
  },
  (input, random) => {
    const { at, length } = range(input, random);
    return replace(input, at, 0, input.subarray(at, at + length));
  },
  // Repeated: deep nesting, long lists.
  (input, random) => {
    const { at, length } = range(input, random);
    const piece = input.subarray(at, at + Math.min(length, 16));
    return replace(
      input,
      at,
      0,
      Buffer.concat(Array.from({ length: random(256) }, () => piece)),
    );
  },
  (input, random, { words }) => {
    const word = Buffer.from(words[random(words.length)] ?? "");
    return replace(input, random(input.length + 1), 0, word);
  },
  (input, random, { words }) => {
    const word = Buffer.from(words[random(words.length)] ?? "");
    return replace(input, random(input.length + 1), word.length, word);
  },
  (input, random) => {
    const number = Buffer.from(NUMBERS[random(NUMBERS.length)]!);
    return replace(input, random(input.length + 1), random(4), number);
  },
  (input, random) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(INTERESTING[random(INTERESTING.length)]!);
    const width = [1, 2, 4][random(3)]!;
    const piece =
      random(2) === 0
        ? bytes.subarray(4 - width)
        : Buffer.from(bytes.subarray(4 - width)).reverse();
    return replace(input, random(input.length + 1), width, piece);
  },
  (input, random, { corpus }) => {
    const other = corpus[random(corpus.length)] ?? input;
    return Buffer.concat([
      input.subarray(0, random(input.length + 1)),
      other.subarray(random(other.length + 1)),
    ]);
  },
  (input, random, { corpus }) => {
    const other = corpus[random(corpus.length)] ?? input;
    const { at, length } = range(other, random);
    return replace(
      input,
      random(input.length + 1),
      random(8),
      other.subarray(at, at + length),
    );
  },
];

/** One to eight random changes. */
export function mutate(
  input: Buffer,
  random: Random,
  material: Material,
): Buffer {
  let output = input;
  for (let count = 1 + random(1 + random(8)); count > 0; count--)
    output = mutations[random(mutations.length)]!(output, random, material);
  return output.subarray(0, MAX_INPUT);
}
