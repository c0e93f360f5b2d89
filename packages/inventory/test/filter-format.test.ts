import t from "tap";
import type { Filter } from "../src/filter/filter.js";
import { compileFilter } from "../src/filter/compile-filter.js";
import { formatFilter } from "../src/filter/format-filter.js";
import { parseFilter } from "../src/filter/parse-filter.js";
import { createRandom, pick, randomFilter } from "./random-filter.js";

const texts: [text: string, formatted?: string][] = [
  [""],
  ["power_state:running !attached? memory:size:>=1"],
  [" tags : ( a  b )", "tags:(a b)"],
  ["(a b)", "a b"],
  ["|( (a b) !(c d) )", "|((a b) !(c d))"],
  ['"a" "a b" "1" "" "*"', 'a "a b" "1" "" "*"'],
  ['"x y":"q\\"\\\\"'],
  ["/a\\/b/i n*"],
  [">1e21"],
];

for (const [text, formatted = text] of texts)
  t.test(`${JSON.stringify(text)} is written`, async (t) => {
    t.equal(formatFilter(parseFilter(text)), formatted);
  });

t.test("every tree reads as itself again", async (t) => {
  for (let seed = 1; seed <= 5_000; seed++) {
    const filter = randomFilter(createRandom(seed));
    const text = formatFilter(filter);
    t.strictSame(parseFilter(text), filter, `seed ${String(seed)}: ${text}`);
    if (!t.passing()) return;
  }
});

t.test(
  "every text that can be read means the same when it is written",
  async (t) => {
    const tokens = [...'()|!:?"/<>*. 01\\'];
    tokens.push("a", "bc", "é", " ", " ", "a:", "|(", "/x/i", '"q"');
    let read = 0;
    for (let seed = 1; seed <= 20_000; seed++) {
      const random = createRandom(seed);
      let text = "";
      for (let left = random(9); left > 0; left--) text += pick(random, tokens);
      const filter = parsed(text);
      if (filter === undefined) continue;
      read++;
      t.strictSame(
        parsed(formatFilter(filter)),
        filter,
        `seed ${String(seed)}: ${text}`,
      );
      if (!t.passing()) return;
    }
    t.ok(read > 1_000, `${String(read)} could be read`);
  },
);

t.test("trees that the parser does not give keep their meaning", async (t) => {
  const a: Filter = { kind: "text", text: "a" };
  const cases: [Filter, boolean][] = [
    [{ kind: "not", term: { kind: "and", terms: [] } }, false],
    [{ kind: "or", terms: [] }, false],
    [{ kind: "and", terms: [{ kind: "or", terms: [a] }] }, true],
    [{ kind: "regex", source: "x/a", ignoreCase: false }, true],
  ];
  for (const [filter, matches] of cases) {
    const text = formatFilter(filter);
    t.equal(compileFilter(parseFilter(text))("x/a"), matches, text);
  }
});

function parsed(text: string): Filter | undefined {
  try {
    return parseFilter(text);
  } catch {
    return undefined;
  }
}
