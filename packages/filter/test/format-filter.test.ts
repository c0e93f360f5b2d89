import t from "tap";
import { formatFilter, parseFilter, type Filter } from "@xo-server/filter";
import { createRandom, pick } from "./seeded-random.js";
import { seeds } from "./seeds.js";

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
  ["memory.size:>=8589934592", "memory.size:>=8GiB"],
  ["size:<1610612736 size:>=2TiB", "size:<1536MiB size:>=2TiB"],
  ["CPUs.number:>4 now.network:>1000000 startTime:>1795772000"],
  ["a:>0 a:<-1073741824"],
];

for (const [text, formatted = text] of texts)
  t.test(`${JSON.stringify(text)} is written`, async (t) => {
    t.equal(formatFilter(parseFilter(text)), formatted);
  });

t.test(
  "every text that can be read means the same when it is written",
  async (t) => {
    const tokens = [...'()|!:?"/<>*. 01\\'];
    tokens.push("a", "bc", "é", " ", " ", "a:", "|(", "/x/i", '"q"');
    let read = 0;
    let tried = 0;
    for (const seed of seeds(20_000)) {
      const random = createRandom(seed);
      let text = "";
      for (let left = random(9); left > 0; left--) text += pick(random, tokens);
      const filter = parsed(text);
      tried++;
      if (filter === undefined) continue;
      read++;
      t.strictSame(
        parsed(formatFilter(filter)),
        filter,
        `seed ${String(seed)}: ${text}`,
      );
      if (!t.passing()) return;
    }
    t.ok(read > tried / 20, `${String(read)} could be read`);
  },
);

t.test("trees that the parser does not give can be written", async (t) => {
  const a: Filter = { kind: "text", text: "a" };
  const cases: [Filter, string][] = [
    [{ kind: "not", term: { kind: "and", terms: [] } }, "!|(a !a)"],
    [{ kind: "or", terms: [] }, "(a !a)"],
    [{ kind: "and", terms: [{ kind: "or", terms: [a] }] }, "a"],
    [{ kind: "regex", source: "x/a", ignoreCase: false }, "/x\\/a/"],
  ];
  for (const [filter, text] of cases) t.equal(formatFilter(filter), text);
});

function parsed(text: string): Filter | undefined {
  try {
    return parseFilter(text);
  } catch {
    return undefined;
  }
}
