import type { Filter } from "@xo-server/filter";

export type Random = (limit: number) => number;

/** Numbers below `limit`, the same for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const NAMES = ["a", "b", "length", "$pool", "x.y", "__proto__", "ü ö", '"\\'];
const TEXTS = ["a", "B", "ab", "1", "0", "running", 'q"\\', "", "é*", "(:)!"];
const REGEXES = ["a", "^a", "b$", "a|b", "[ab]+1?", "\\d", "a\\/b", '" \\\\'];

/** A filter as the parser gives them: no groups of fewer than two terms. */
export function randomFilter(random: Random, depth = 4): Filter {
  const kind = random(depth > 0 ? 10 : 5);
  switch (kind) {
    case 0:
      return { kind: "truthy", name: pick(random, NAMES) };
    case 1:
      return {
        kind: "compare",
        operator: pick(random, ["<", "<=", ">", ">="] as const),
        number: pick(random, [0, 1, 2, -1, 1.5, 1e21]),
      };
    case 2:
      return {
        kind: "regex",
        source: pick(random, REGEXES),
        ignoreCase: random(2) === 0,
      };
    case 3:
      return { kind: "glob", pattern: pick(random, ["*", "a*", "*b*1", "1*"]) };
    case 4:
      return randomText(random);
    case 5:
      return { kind: "not", term: randomFilter(random, depth - 1) };
    case 6:
    case 7:
      return {
        kind: random(2) === 0 ? "and" : "or",
        terms: Array.from({ length: 2 + random(2) }, () =>
          randomFilter(random, depth - 1),
        ),
      };
    default:
      return {
        kind: "property",
        name: pick(random, NAMES),
        term: randomFilter(random, depth - 1),
      };
  }
}

function randomText(random: Random): Filter {
  const number = pick(random, ["0", "1", "-1.5", "1e3"]);
  return random(3) === 0
    ? { kind: "text", text: number, number: Number(number) }
    : { kind: "text", text: pick(random, TEXTS) };
}

/** A JSON value, or undefined. */
export function randomValue(random: Random, depth = 4): unknown {
  switch (random(depth > 0 ? 9 : 6)) {
    case 0:
      return undefined;
    case 1:
      return null;
    case 2:
      return random(2) === 0;
    case 3:
      return random(3) - 1;
    case 4:
    case 5:
      return pick(random, TEXTS);
    case 6:
      return Array.from({ length: random(3) }, () =>
        randomValue(random, depth - 1),
      );
    default:
      return randomObject(random, depth);
  }
}

export function randomObject(random: Random, depth = 4) {
  const object: Record<string, unknown> = {};
  for (const name of NAMES)
    if (random(2) === 0)
      Object.defineProperty(object, name, {
        value: randomValue(random, depth - 1),
        enumerable: true,
      });
  return object;
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!;
}
