import { parentPort } from "node:worker_threads";
import { createPattern } from "../src/filter/pattern.js";
import { createRandom, pick, type Random } from "./random-filter.js";
import { seeds } from "./seeds.js";

// A worker: its parent ends it when it does not come back.

/** Of the texts; the end of the longest is not looked at. */
const LENGTHS = [30, 100, 255, 1_000, 4_000, 65_536];

/** Patterns for which JavaScript's engine takes practically forever, with the texts that cause it. */
const known: [source: string, text: string][] = [
  ["(a+)+$", "a"],
  ["^(a+)+$", "a"],
  ["([a-zA-Z]+)*$", "a"],
  ["(a|aa)+$", "a"],
  ["(a|a?)+$", "a"],
  ["(.*a){20}$", "a"],
  ["(x+x+)+y", "x"],
  ["(.*)*x", "a"],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", "a"],
  ["(?:a?){40}a{40}$", "a"],
  [".*.*.*=.*", "a"],
  ["a*a*a*a*a*b", "a"],
  ["\\s+$", " "],
  ["^\\s+|\\s+$", "\u00a0 "],
  ["(\\w+\\s?)*$", "ab "],
  ["<([^>]+>)*", "<"],
  ["([\\w.-]+)+@([\\w-]+\\.)+", "a.-"],
  ["(?:a|b)*a(?:a|b){20}c", "abbab"],
  ["(?=(a+))a*b", "a"],
  ["(a*)*\\1b", "a"],
  ["^(?!(a+)+$)", "a"],
  ["(?<=(a|aa)+)b", "a"],
  ["((a{1,50}){1,50}){1,50}", "a"],
  ["(?:ab|b|aba)*c", "ab"],
  ["(?:a|A)*(?:b|aa)*$", "a"],
  ["(?:ab|ba)+(?:ab|ba)+(?:ab|ba)+$", "ab"],
];

function randomPattern(random: Random, depth: number): string {
  const inner = () => randomPattern(random, depth - 1);
  switch (random(depth > 0 ? 9 : 3)) {
    case 0:
      return "a";
    case 1:
      return pick(random, ["[ab]", ".", "\\w", "b", "(?:)"]);
    case 2:
      return pick(random, ["^", "$", "\\b", "a", "aa"]);
    case 3:
    case 4:
      return inner() + inner();
    case 5:
      return random(2) === 0
        ? `(${inner()}|${inner()})`
        : `(?:a${inner()}|b${inner()}|A${inner()})`;
    default:
      return `(?:${inner()})${pick(random, ["*", "+", "?", "{2,5}", "{0,9}", "{3,}"])}`;
  }
}

const cases = [...known];
for (const seed of seeds(1_000))
  cases.push([
    randomPattern(createRandom(seed), 5),
    pick(createRandom(seed), ["a", "ab", "abb"]),
  ]);

parentPort!.on("message", (index: number) => {
  const [source, unit] = cases[index]!;
  const pattern = createPattern(source, index % 2 === 1);
  const answers = LENGTHS.map((length) =>
    typeof pattern === "string"
      ? pattern
      : pattern.test(unit.repeat(length).slice(0, length - 1) + "!"),
  );
  parentPort!.postMessage({
    source,
    answers,
    left: cases.length - index - 1,
  });
});
