import t from "tap";
import {
  compileFilter,
  formatFilter,
  parseFilter,
  type Filter,
} from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { nestDottedNames } from "../src/filter/nested-names.js";
import { createRandom, randomFilter } from "./random-filter.js";
import { seeds } from "./seeds.js";

t.test("every tree reads as itself again", async (t) => {
  for (const seed of seeds(5_000)) {
    const filter = randomFilter(createRandom(seed));
    const text = formatFilter(filter);
    const expected = nestDottedNames(filter);
    t.strictSame(parseFilter(text), expected, `seed ${String(seed)}: ${text}`);
    if (!t.passing()) return;
  }
});

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

t.test("errors have a position", async (t) => {
  t.throws(() => parseFilter("a: )"), {
    code: "FILTER_INVALID",
    message: "parse error: expected a term at position 3",
    data: { expected: "a term", stringToParse: "a: )", position: 3 },
  });
  t.throws(() => parseFilter("a:/(a+)+{999}/"), {
    code: "FILTER_INVALID",
    data: { expected: "a regular expression", position: 2 },
  });
  t.throws(() => parseFilter(`a:/${"a".repeat(1_001)}/`), {
    code: "FILTER_INVALID",
    data: { expected: "a regular expression of at most 1000 characters" },
  });
});

t.test("an error repeats no more of the text than the limit", async (t) => {
  try {
    parseFilter("a".repeat(50_000));
    t.fail();
  } catch (error) {
    const { stringToParse } = (error as XoError).data;
    t.equal((stringToParse as string).length, 16_384);
  }
});
