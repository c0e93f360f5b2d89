/** A seeded generator (mulberry32): the same seed gives the same run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** 0 <= n < 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer, 0 <= n < `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  many<T>(limit: number, make: () => T): T[] {
    return Array.from({ length: this.below(limit) }, make);
  }
}

const PIECES = [
  "a",
  "OpaqueRef:",
  "héllo",
  "€",
  "💩",
  '"',
  "\\",
  "\\u0041",
  "\n",
  "\t",
  "&",
  "<b>",
  "</value>",
  "]]>",
  "'",
  "{[",
  "}]",
  ",",
  " ",
  "&amp;",
  "__proto__",
];

/** Text with characters that need escaping; without CR (XML parsers convert it to LF) and control characters (XAPI has none). */
export function randomText(random: Random): string {
  return random.many(8, () => random.pick(PIECES)).join("");
}
